"""Place the nodes that an application defines by itself, before anything else reads the topology.

A node that the topology places stays there. In a star, every other node gets a host of its own: first the
written hosts without a node; where `hosts` is absent, as many hosts as needed. Nodes are placed in the order
in which the application names them, so the same file always gives the same network. Zones and graphs have no
obvious place: there the author places every node.
"""

from __future__ import annotations

from pydantic import JsonValue

from crosswind.spec import applications
from crosswind.spec.document import Document
from crosswind.spec.draft import items, sound_field, value_at
from crosswind.spec.topology import Star, form_of
from crosswind.spec.topology.names import free_hosts


def with_own_nodes(document: Document) -> Document:
    """Return the document with the application's own nodes in its topology."""
    topology = value_at(document.data, "topology")
    if not isinstance(topology, dict) or form_of(topology) is not Star:
        return document
    for path, raw in items(document.data, "application"):
        name = str(path[-1])
        if name not in applications.names() or not applications.brings_nodes(name):
            continue
        own = applications.own_nodes(name, raw, document)
        placed = topology.get("nodes")
        if not own or not (placed is None or isinstance(placed, dict)):
            continue
        return document.with_value("topology", _placed(topology, placed or {}, own))
    return document


def _placed(
    topology: dict[str, JsonValue], nodes: dict[str, JsonValue], own: list[str]
) -> dict[str, JsonValue]:
    unplaced = [node for node in own if node not in nodes]
    used = [placed.get("host") if isinstance(placed, dict) else placed for placed in nodes.values()]
    if "hosts" in topology:
        hosts: list[str] = sound_field(Star, "hosts", topology) or []
        free = [host for host in hosts if host not in used]
        places = dict(zip(unplaced, free, strict=False))
        return {**topology, "nodes": {**nodes, **places}}
    named = list(dict.fromkeys(host for host in used if isinstance(host, str)))
    more = free_hosts(len(unplaced), {*named, *nodes, *own})
    return {
        **topology,
        "hosts": [*named, *more],
        "nodes": {**nodes, **dict(zip(unplaced, more, strict=True))},
    }
