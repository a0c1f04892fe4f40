"""The names that a service can resolve: those of services that share a network with it. Pure functions.

Every node can reach every other node by its address. Names are as in compose: services that share a network
resolve each other's names, container names and aliases.
"""

from __future__ import annotations

from collections.abc import Mapping

from crosswind.app.compose.service import Service, node_name, nodes_of

_LOCAL = ("127.0.0.1 localhost", "::1 localhost")


def hosts_file(name: str, node: str, services: Mapping[str, Service], addresses: Mapping[str, str]) -> str:
    """Return the text of /etc/hosts for a node of a service.

    Args:
        addresses: of all nodes, by name; every service can resolve nodes without a service.
    """
    own = services[name]
    lines = [*_LOCAL]
    of_services = set()
    for other, service in services.items():
        for number, each in enumerate(nodes_of(other, service)):
            of_services.add(each)
            if other == name or own.networks.keys() & service.networks.keys():
                found = _names(other, each, service, own, is_first=number == 0)
                # The node's own host name comes first, because `hostname -f` takes the first name.
                if each == node:
                    found = [own.hostname or each, *found]
                lines.append(f"{addresses[each]} {' '.join(dict.fromkeys(found))}")
    lines += [f"{address} {each}" for each, address in addresses.items() if each not in of_services]
    lines += [f"{address} {extra}" for extra, address in own.extra_hosts.items()]
    return "\n".join(lines) + "\n"


def _names(other: str, node: str, service: Service, seen_by: Service, *, is_first: bool) -> list[str]:
    aliases = [
        alias for network, names in service.networks.items() if network in seen_by.networks for alias in names
    ]
    # Each of several nodes has its own name besides the common one; only the first has the plain name.
    common = [other, *aliases, *([node_name(other)] if is_first else [])]
    return [node, *common]
