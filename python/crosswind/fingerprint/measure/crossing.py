"""Put a forwarding node or a tunnel between two nodes of a fabric.

Both use the kernel, are set up in running nodes, and disappear with them. Routes have the TCP settings that
the agent declared (congestion control, minimum timeout, ECN). Neighbours are permanent, so that no address
resolution adds traffic.

Source: the places of OSMeF (Venzano and Michiardi, EURECOM RR-13-287, sections 4.4 and 5): GRE between hosts,
and a node that routes between tenants.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from crosswind.errors import CrosswindError, Exit
from crosswind.fingerprint.measure.ends import End
from crosswind.testbed import TestbedError

Tunnel = Literal["vxlan", "gre"]
TUNNELS: tuple[Tunnel, ...] = get_args(Tunnel)
# Both carry Ethernet, so that a tunnel is a link and not a path.
_DEVICES = {"vxlan": "vxlan id 77 dstport 4789", "gre": "gretap"}
_MODULES = {"vxlan": "vxlan", "gre": "ip_gre"}
_DEVICE = "tunnel0"
_INSIDE = ("10.78.0.1", "10.78.0.2")
# The next hop to the forwarding node: at the switch, outside of the nodes' network.
_FORWARDER = "169.254.77.2"


class CannotCross(CrosswindError):
    """A node cannot be set up; gives the kernel's message and the remedy."""

    exit = Exit.PREFLIGHT


def forward(near: End, far: End, middle: End) -> None:
    """Route the packets between two nodes over a third one, in both directions.

    Raises: CannotCross: the kernel refuses, or the user is not root.
    """
    try:
        # Otherwise it would redirect both to the shorter path.
        switches = "echo 1 >ip_forward; for each in conf/*/send_redirects; do echo 0 >$each; done"
        middle.run(["sh", "-ec", f"cd /proc/sys/net/ipv4; {switches}"])
        for end, other in ((near, far), (far, near)):
            _neighbour(end, _FORWARDER, _mac(middle.address), "eth0")
            _route(end, other.address, ["via", _FORWARDER, "dev", "eth0", "src", end.address, "onlink"])
    except TestbedError as error:
        raise CannotCross(f"--through {middle.name}: {error}; it needs root and `ip` (iproute2)") from None


def tunnelled(near: End, far: End, tunnel: Tunnel) -> tuple[End, End]:
    """Make a tunnel between two nodes, and return them with their addresses in the tunnel.

    Raises: CannotCross: the kernel has no such tunnel, or the user is not root.
    """
    insides = tuple(replace(end, address=inside) for end, inside in zip((near, far), _INSIDE, strict=True))
    try:
        for (outside, beyond), (inside, other) in zip(
            ((near, far), (far, near)), (insides, insides[::-1]), strict=True
        ):
            outside.run(
                [
                    *("ip", "link", "add", _DEVICE, "address", _mac(inside.address)),
                    *("type", *_DEVICES[tunnel].split()),
                    *("local", outside.address, "remote", beyond.address, "dev", "eth0"),
                ]
            )
            outside.run(["ip", "address", "add", f"{inside.address}/32", "dev", _DEVICE])
            outside.run(["ip", "link", "set", _DEVICE, "up"])
            _neighbour(outside, other.address, _mac(other.address), _DEVICE)
            _route(outside, other.address, ["dev", _DEVICE, "src", inside.address])
    except TestbedError as error:
        others = " or ".join(f"--tunnel {one}" for one in TUNNELS if one != tunnel)
        raise CannotCross(
            f"--tunnel {tunnel}: {error}; it needs root, `ip` (iproute2) and a kernel that has it: try "
            f"`modprobe {_MODULES[tunnel]}`, or {others}"
        ) from None
    return insides[0], insides[1]


def _neighbour(end: End, address: str, mac: str, device: str) -> None:
    end.run(["ip", "neighbour", "add", address, "lladdr", mac, "dev", device, "nud", "permanent"])


def _route(end: End, to: str, way: list[str]) -> None:
    declared = tcp_metrics(end.run(["ip", "-4", "route", "show", "10.77.0.0/16"]).decode())
    end.run(["ip", "route", "add", f"{to}/32", *way, *declared])


def tcp_metrics(route: str) -> list[str]:
    """Return the words of a route, as `ip` shows it, that set something for TCP."""
    words = route.split()
    # `ip` shows `lock` but does not accept it; it locks by itself.
    return [word for word in words[words.index("onlink") + 1 :] if word != "lock"]


def _mac(address: str) -> str:
    """Return the Ethernet address for an IP address, by the rule of the fabric."""
    _, subnet, *number = (int(part) for part in address.split("."))
    return "02:{:02d}:00:00:{:02x}:{:02x}".format(subnet, *number)
