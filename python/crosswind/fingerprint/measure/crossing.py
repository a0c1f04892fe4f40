"""What packets cross between two nodes of a fabric besides the fabric: a node that forwards, or a tunnel.

Both are the kernel's own, set up in the nodes once they are there, and are gone with them. Routes keep what
the agent declared for TCP (congestion control, smallest timeout, ECN); nothing is resolved on the way, since
questions for addresses would be traffic that nobody asked for.

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
# Ethernet inside of both, so that a tunnel is a link and not a path.
_DEVICES = {"vxlan": "vxlan id 77 dstport 4789", "gre": "gretap"}
_MODULES = {"vxlan": "vxlan", "gre": "ip_gre"}
_DEVICE = "tunnel0"
_INSIDE = ("10.78.0.1", "10.78.0.2")
# Where a node finds the one that forwards: beside the switch, outside of the nodes' network.
_FORWARDER = "169.254.77.2"


class CannotCross(CrosswindError):
    """A node cannot be set up so; says what the kernel said and what would help."""

    exit = Exit.PREFLIGHT


def forward(near: End, far: End, middle: End) -> None:
    """Have what two nodes send to each other go over a third one, both ways.

    Raises: CannotCross: the kernel, or somebody who is not root, cannot.
    """
    try:
        # It would tell both that there is a shorter way.
        switches = "echo 1 >ip_forward; for each in conf/*/send_redirects; do echo 0 >$each; done"
        middle.run(["sh", "-ec", f"cd /proc/sys/net/ipv4; {switches}"])
        for end, other in ((near, far), (far, near)):
            _neighbour(end, _FORWARDER, _mac(middle.address), "eth0")
            _route(end, other.address, ["via", _FORWARDER, "dev", "eth0", "src", end.address, "onlink"])
    except TestbedError as error:
        raise CannotCross(f"--through {middle.name}: {error}; it takes root, and ip (iproute2)") from None


def tunnelled(near: End, far: End, tunnel: Tunnel) -> tuple[End, End]:
    """Make a tunnel between two nodes and return them as they reach each other through it.

    Raises: CannotCross: the kernel has none of this kind, or somebody who is not root cannot make one.
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
            f"--tunnel {tunnel}: {error}; it takes root, ip (iproute2) and a kernel that has it: try "
            f"`modprobe {_MODULES[tunnel]}`, or {others}"
        ) from None
    return insides[0], insides[1]


def _neighbour(end: End, address: str, mac: str, device: str) -> None:
    end.run(["ip", "neighbour", "add", address, "lladdr", mac, "dev", device, "nud", "permanent"])


def _route(end: End, to: str, way: list[str]) -> None:
    declared = tcp_metrics(end.run(["ip", "-4", "route", "show", "10.77.0.0/16"]).decode())
    end.run(["ip", "route", "add", f"{to}/32", *way, *declared])


def tcp_metrics(route: str) -> list[str]:
    """Return the words of a route to all nodes that declare something for TCP; it is as `ip` shows it."""
    words = route.split()
    # What `ip` shows as locked it locks by itself when told.
    return [word for word in words[words.index("onlink") + 1 :] if word != "lock"]


def _mac(address: str) -> str:
    """Return the Ethernet address that goes with an address, by the rule of the fabric's own."""
    _, subnet, *number = (int(part) for part in address.split("."))
    return "02:{:02d}:00:00:{:02x}:{:02x}".format(subnet, *number)
