"""The nodes of a fabric as a backend meets them: ports, addresses, and the way to each node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address

from crosswind.spec import FabricSpec
from crosswind.spec.network import Link, Network
from crosswind.spec.resolved import Parameters, restricted_to

_NETWORK = int(IPv4Address("10.77.0.0"))
SWITCH_MAC = "02:77:00:00:00:00"


@dataclass(frozen=True)
class Station:
    """A node, its addresses, and the device that the agent has made for it in the switch."""

    name: str
    host: str
    ip: str
    mac: str
    port: str


class Stations:
    """The nodes of a fabric and the network between them."""

    def __init__(self, spec: FabricSpec) -> None:
        self.network = Network(
            "graph",
            tuple(spec.hosts),
            tuple(spec.switches),
            tuple(map(Link.of, spec.links)),
            {node.name: node.host for node in spec.nodes},
        )
        self.nodes = tuple(_station(number, node.name, node.host) for number, node in enumerate(spec.nodes))

    def on(self, host: str) -> list[Station]:
        """Return the nodes on a host."""
        return [node for node in self.nodes if node.host == host]

    def next_hop(self, at: str, host: str) -> Link | None:
        """Return the link that packets to a host take from another host or switch; None: there is no way."""
        if at in self.network.uplinks:
            return self.network.uplinks[at]
        if self.network.switch_of(host) == at:
            return self.network.downlinks[host]
        return self._next.get((at, host))

    @cached_property
    def _next(self) -> dict[tuple[str, str], Link]:
        hosts = self.network.hosts
        ways = [(self.network.way(source, target) or [], target) for source in hosts for target in hosts]
        return {(link.source, target): link for way, target in ways for link in way}

    def named(self, place: str, parameters: Parameters) -> list[str]:
        """Return the nodes (at `host.*`) or hosts (at `switch.*`) that an element at a place applies to."""
        on = restricted_to(parameters)
        if place.startswith("host."):
            return [
                node.name
                for node in self.nodes
                if on is None or {node.name, node.host, self.network.switch_of(node.host)} & {*on}
            ]
        links = self.network.uplinks if place == "switch.ingress" else self.network.downlinks
        return [
            host
            for host, link in links.items()
            if on is None or {host, self.network.switch_of(host), link.name} & {*on}
        ]


def _station(number: int, name: str, host: str) -> Station:
    own = number + 1
    mac = f"02:77:00:00:{own >> 8:02x}:{own & 255:02x}"
    return Station(name, host, str(IPv4Address(_NETWORK + own)), mac, f"port{number}")
