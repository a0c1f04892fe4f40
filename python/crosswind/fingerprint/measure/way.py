"""How far apart two ends are: the hosts they stand on, and the routers and the tunnel between them.

The distance is that of OSMeF, in a tree whose leaves are hosts: the number of steps from both ends up to
their common node. It is 0 on one host, 2 between two hosts, and each router adds 2. What a tunnel crosses
does not count, as in the study's GRE between hosts.

Source: Venzano and Michiardi, EURECOM RR-13-287, section 4.4 and figure 1 (docs/sources.md#osmef).
"""

from __future__ import annotations

from crosswind.analysis.network.ends import EndFacts
from crosswind.analysis.network.way import Place, Way
from crosswind.fingerprint.measure.ends import Ends

# Drivers of devices that wrap packets into others, as the kernel names them.
_TUNNELS = (
    "vxlan",
    "geneve",
    "gre",
    "gretap",
    "ip6gre",
    "ip6gretap",
    "ipip",
    "sit",
    "wireguard",
    "tun",
)


def way_of(ends: Ends, seen: EndFacts) -> Way:
    """Return the way between two ends.

    Args:
        seen: the facts of the near end, with a connection to the far one.
    """
    assert seen.connection is not None, "the near end connects to the far one"
    interface, routers = seen.interface, seen.connection.routers
    place = _place(ends, interface.name, routers)
    return Way(
        place=place,
        routers=routers,
        tunnel=interface.driver if interface.driver in _TUNNELS else None,
        distance=_distance(place, routers),
    )


def _place(ends: Ends, interface: str | None, routers: int | None) -> Place | None:
    hosts = (ends.near.host, ends.far.host)
    if interface == "lo" or ends.near.address == ends.far.address:
        return "loopback"
    if routers:
        return "routed"
    if None in hosts:
        return None
    return "same host" if hosts[0] == hosts[1] else "other host"


def _distance(place: Place | None, routers: int | None) -> int | None:
    if place is None or routers is None:
        return None
    return 0 if place in ("loopback", "same host") else 2 + 2 * routers
