"""Which nodes a name in a fault means: a node, or all nodes on a host, a switch or a zone."""

from __future__ import annotations

from collections.abc import Iterable

from crosswind.spec.network import Network


def nodes_of(name: str, network: Network) -> list[str] | None:
    """Return the nodes that a name means, in the order of the topology; None where nothing has this name."""
    if name in network.nodes:
        return [name]
    if name in network.switches:
        hosts = set(network.hosts_on(name))
    elif name in network.hosts:
        hosts = {name}
    else:
        return None
    return [node for node, host in network.nodes.items() if host in hosts]


def nodes_of_all(names: Iterable[str], network: Network) -> list[str]:
    """Return the nodes that names mean, each once, in the order of the names."""
    return list(dict.fromkeys(node for name in names for node in nodes_of(name, network) or ()))


def names_in(network: Network) -> list[str]:
    """Return all names that a fault may have, the usual ones first."""
    return [*network.nodes, *network.hosts, *network.switches]
