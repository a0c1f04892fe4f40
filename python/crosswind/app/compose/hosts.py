"""Which names a service finds: those of the services that share a network with it. Pure functions.

Every node can be reached at its address by every other node. Names are as in compose: services that share a
network find each other under their own names, those of their containers and their aliases.
"""

from __future__ import annotations

from collections.abc import Mapping

from crosswind.app.compose.service import Service, node_name, nodes_of

_LOCAL = ("127.0.0.1 localhost", "::1 localhost")


def hosts_file(name: str, node: str, services: Mapping[str, Service], addresses: Mapping[str, str]) -> str:
    """Return the text of /etc/hosts for a node of a service.

    Args:
        addresses: of all nodes, by their names; those of no service are found by everybody.
    """
    own = services[name]
    lines = [*_LOCAL]
    of_services = set()
    for other, service in services.items():
        for number, each in enumerate(nodes_of(other, service)):
            of_services.add(each)
            if other == name or own.networks.keys() & service.networks.keys():
                found = _names(other, each, service, own, is_first=number == 0)
                # The node itself is first called what it calls itself: hostname -f takes the first name.
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
    # Of several nodes each has a name of its own beside the common one; the first of them is called like all.
    common = [other, *aliases, *([node_name(other)] if is_first else [])]
    return [node, *common]
