"""The devices of a fabric that the kernel carries, and the commands that make them.

The switch routes: each host has a veth pair to it, the host's end with the uplink's queue, the switch's end
with the downlink's. What a node sends is redirected from its port to its host's end, what arrives there to
the node's port.
"""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.backends.refusals import NotCarried
from crosswind.backends.stations import SWITCH_MAC, Station, Stations
from crosswind.spec import FabricSpec

_TABLE_FIRST = 100


class Devices:
    """The devices of a star.

    Raises: NotCarried: the network has more than one switch.
    """

    def __init__(self, spec: FabricSpec) -> None:
        self.stations = Stations(spec)
        self._mtu_bytes = spec.mtu_bytes
        if len(spec.switches) != 1:
            raise NotCarried.part(
                "tc", "topology", f"it has {len(spec.switches)} switches, and tc carries a star"
            )
        self._numbers = {host: number for number, host in enumerate(spec.hosts)}

    @property
    def hosts(self) -> list[str]:
        """The hosts, in their order."""
        return list(self._numbers)

    @property
    def all(self) -> list[str]:
        """All devices."""
        ends = [end for host in self.hosts for end in (self.uplink(host), self.downlink(host))]
        return [*(node.port for node in self.stations.nodes), *ends]

    def uplink(self, host: str) -> str:
        """Return the host's end of its link: what leaves here goes up."""
        return f"h{self._numbers[host]}up"

    def downlink(self, host: str) -> str:
        """Return the switch's end of a host's link: what leaves here goes down."""
        return f"h{self._numbers[host]}down"

    def commands(self) -> Iterator[str]:
        """Yield the shell commands that make all of it."""
        for key in (
            "ip_forward=1",
            "conf.all.rp_filter=0",
            "conf.default.rp_filter=0",
            "conf.all.send_redirects=0",
        ):
            name, value = key.split("=")
            yield f"echo {value} > /proc/sys/net/ipv4/{name.replace('.', '/')}"
        for host in self.hosts:
            yield from self._of_host(host)
        for node in self.stations.nodes:
            yield from self._of_node(node)

    def _of_host(self, host: str) -> Iterator[str]:
        up, down, mtu = self.uplink(host), self.downlink(host), self._mtu_bytes
        yield f"ip link add {up} mtu {mtu} type veth peer name {down} mtu {mtu} address {SWITCH_MAC}"
        for device in (up, down):
            yield f"ip link set {device} up"
        for node in self.stations.on(host):
            yield from _way_to(node, down)

    def _of_node(self, node: Station) -> Iterator[str]:
        yield f"ip link set {node.port} address {SWITCH_MAC}"
        # Nodes of one host reach each other without the host's link.
        table = _TABLE_FIRST + self._numbers[node.host]
        yield f"ip rule add iif {node.port} lookup {table}"
        yield from _way_to(node, node.port, f"table {table}")


def _way_to(node: Station, device: str, table: str = "") -> Iterator[str]:
    yield f"ip route add {node.ip}/32 dev {device} {table}".rstrip()
    yield f"ip neigh replace {node.ip} lladdr {node.mac} dev {device} nud permanent"
