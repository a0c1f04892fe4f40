"""Place nodes in a network with several switches: on a host of their own, or on a named host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.setting import Finding
from crosswind.spec.topology.names import free_hosts
from crosswind.text.nearest import did_you_mean

_NAMES_SHOWN = 10


@dataclass(frozen=True)
class Placed:
    """Every host with its switch, and every node with its host."""

    hosts: Mapping[str, str]
    nodes: Mapping[str, str]


def place_as(key: str, example: str) -> Callable[[object], object]:
    """Return the reader of a place: text means a mapping with this one key."""

    def read(value: object) -> object:
        if isinstance(value, str):
            return {key: value}
        if not isinstance(value, dict):
            raise QuantityError(
                f"{shown(value)} is neither a {key} nor a mapping; write {example} or {{{key}: {example}}}"
            )
        return value

    return read


def place(hosts: Mapping[str, str], nodes: Mapping[str, str], switches: Collection[str]) -> Placed:
    """Return hosts and nodes, with a host of its own for each node that is placed on a switch or zone.

    Args:
        hosts: the switch or zone of each host that is named.
        nodes: the host, switch or zone of each node.
    """
    own = [node for node, at in nodes.items() if at not in hosts]
    made = dict(zip(own, free_hosts(len(own), {*hosts, *nodes, *switches}), strict=True))
    return Placed(
        {**hosts, **{host: nodes[node] for node, host in made.items()}},
        {node: made.get(node, at) for node, at in nodes.items()},
    )


def place_findings(
    hosts: Mapping[str, str], nodes: Mapping[str, str], switches: Collection[str], noun: str
) -> list[Finding]:
    """Return what is wrong with the places of hosts and nodes, with the path inside the topology.

    Args:
        noun: `switch` or `zone`.
    """
    found: list[Finding] = []
    for host, switch in hosts.items():
        if switch not in switches:
            found.append(
                (
                    ("hosts", host),
                    f"is on {shown(switch)}, which is not a {noun}; {_remedy(switch, switches)}",
                )
            )
        if host in switches:
            found.append((("hosts", host), f"is also the name of a {noun}; give the host another name"))
    for node, at in nodes.items():
        if at not in hosts and at not in switches:
            known = [*hosts, *switches]
            found.append(
                (
                    ("nodes", node),
                    f"is on {shown(at)}, which is neither a host nor a {noun}; {_remedy(at, known)}",
                )
            )
        for kind, names in (("host", hosts), (noun, switches)):
            if node in names:
                message = f"is also the name of a {kind}; give the node another name"
                found.append((("nodes", node), message))
    return found


def _remedy(name: str, known: Collection[str]) -> str:
    return did_you_mean(name, known) or f"choose one of {some_of(known)}"


def some_of(names: Collection[str]) -> str:
    """Return names for a message, at most ten of them."""
    more = len(names) - _NAMES_SHOWN
    text = ", ".join(list(names)[:_NAMES_SHOWN])
    return f"{text} and {more} more" if more > 0 else text
