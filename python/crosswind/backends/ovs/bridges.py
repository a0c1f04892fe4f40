"""The bridges, ports and wires of a fabric in Open vSwitch."""

from __future__ import annotations

from crosswind.backends.ovs.setup import Bridge, Port, Wire
from crosswind.backends.refusals import NotCarried
from crosswind.backends.stations import Station, Stations
from crosswind.spec import FabricSpec
from crosswind.spec.network import Link

# Ports of nodes come first; no fabric has as many.
_FIRST_WIRE = 30_000


class Bridges:
    """A bridge for each host and each switch, and a veth pair for each two directions of a link.

    Raises: NotCarried: a link needs what Open vSwitch lacks.
    """

    def __init__(self, spec: FabricSpec) -> None:
        self.stations = Stations(spec)
        network = self.stations.network
        names = (*network.switches, *network.hosts)
        self.of = {name: Bridge(f"br{number}", name) for number, name in enumerate(names)}
        self._nodes = {
            node.name: Port(node.port, self.of[node.host].name, number)
            for number, node in enumerate(self.stations.nodes, 1)
        }
        for link in network.links:
            _check(link)
        self._wires: dict[frozenset[str], Wire] = {}
        for link in network.links:
            ends = frozenset((link.source, link.target))
            if ends not in self._wires:
                number = len(self._wires)
                port = _FIRST_WIRE + number
                self._wires[ends] = Wire(
                    (
                        Port(f"w{number}a", self.of[link.source].name, port),
                        Port(f"w{number}b", self.of[link.target].name, port),
                    )
                )

    @property
    def bridges(self) -> list[Bridge]:
        """All bridges."""
        return list(self.of.values())

    @property
    def wires(self) -> list[Wire]:
        """All veth pairs between bridges."""
        return list(self._wires.values())

    @property
    def node_ports(self) -> list[Port]:
        """The ports of nodes, in their order."""
        return list(self._nodes.values())

    def port_of(self, node: str) -> Port:
        """Return the port of a node in the bridge of its host."""
        return self._nodes[node]

    def end(self, link: Link, at: str) -> Port:
        """Return the port of a link in the bridge of a host or switch at its end."""
        wire = self._wires[frozenset((link.source, link.target))]
        return next(end for end in wire.ends if end.bridge == self.of[at].name)

    def towards(self, at: str, node: Station) -> Port | None:
        """Return the port by which packets to a node leave a bridge; None: they never do."""
        if node.host == at:
            return self.port_of(node.name)
        link = self.stations.next_hop(at, node.host)
        return None if link is None else self.end(link, at)


def _check(link: Link) -> None:
    for what, given in (("delay", link.delay_ns), ("jitter", link.jitter_ns), ("loss", link.loss_ppb)):
        if given:
            raise NotCarried.part(
                "ovs", f"link {link.name}: {what}", f"Open vSwitch has no {what}; leave it at 0"
            )
