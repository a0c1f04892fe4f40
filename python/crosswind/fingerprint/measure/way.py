"""How far apart two ends are: on which hosts they stand, how many routers and which tunnel lie between them.

The distance is OSMeF's, that of a tree whose leaves are hosts: the sum of both ends' steps up to what they
have in common. On one host it is 0, between two hosts 2, and each router on the way adds 2. What a tunnel
crosses is beneath it and does not count, as between the study's hosts with GRE.

Source: Venzano and Michiardi, EURECOM RR-13-287, section 4.4 and figure 1 (docs/sources.md#osmef).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from crosswind.fingerprint.measure.ends import Ends

Place = Literal["loopback", "same host", "other host", "routed"]
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


@dataclass(frozen=True)
class Way:
    """What lies between two ends.

    Attributes:
        place: None where both are on this machine and nobody says whether they stand for one host.
        routers: that count a packet's life down, each way; None where no answer told.
        tunnel: the kind of device that the near end sends through; None where it is no tunnel.
    """

    place: Place | None
    routers: int | None
    tunnel: str | None

    @classmethod
    def of(cls, ends: Ends, seen: Mapping[str, Any]) -> Self:
        """Return the way between two ends.

        Args:
            seen: what the near end is (`end_facts.py`), with a connection to the far one.
        """
        interface, routers = seen["interface"], seen["connection"]["routers"]
        driver = interface.get("driver")
        tunnel = driver if driver in _TUNNELS else None
        hosts = (ends.near.host, ends.far.host)
        place: Place | None
        if interface["name"] == "lo" or ends.near.address == ends.far.address:
            place = "loopback"
        elif routers:
            place = "routed"
        elif None in hosts:
            place = None
        else:
            place = "same host" if hosts[0] == hosts[1] else "other host"
        return cls(place, routers, tunnel)

    @property
    def distance(self) -> int | None:
        """0 on one host, 2 between two, and 2 more for each router; None where the place is not known."""
        if self.place is None or self.routers is None:
            return None
        return {"loopback": 0, "same host": 0}.get(self.place, 2 + 2 * self.routers)

    def as_dict(self) -> dict[str, Any]:
        """Return what a document says (docs/reference/contracts.md, section 9)."""
        return {**vars(self), "distance": self.distance}


def way_text(way: Mapping[str, Any]) -> str:
    """Return the way of a document in a few words."""
    routers, tunnel = way["routers"], way["tunnel"]
    parts = [
        way["place"] or "both on this machine",
        *([f"over {routers} router{'s' if routers > 1 else ''}"] if routers else []),
        *([f"through a tunnel ({tunnel})"] if tunnel else []),
        f"distance {way['distance']}" if way["distance"] is not None else "distance not known",
    ]
    return ", ".join(parts)
