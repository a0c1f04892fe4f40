"""The path between two ends, as a fingerprint records it."""

from __future__ import annotations

from typing import Literal

from crosswind.analysis.network.part import FingerprintPart

Place = Literal["loopback", "same host", "other host", "routed"]


class Way(FingerprintPart):
    """The path between two ends.

    Attributes:
        place: None where both ends are on this machine and it is unknown whether they stand for one host.
        routers: routers that decrement the time to live, each way; None where no probe was answered.
        tunnel: the driver of the near end's device; None where it is no tunnel.
        distance: 0 on one host, 2 between two hosts, plus 2 for each router; None where it is unknown.
    """

    place: Place | None = None
    routers: int | None = None
    tunnel: str | None = None
    distance: int | None = None

    def __str__(self) -> str:
        """The path in a few words."""
        routers, tunnel = self.routers, self.tunnel
        parts = [
            self.place or "both on this machine",
            *([f"over {routers} router{'s' if routers > 1 else ''}"] if routers else []),
            *([f"through a tunnel ({tunnel})"] if tunnel else []),
            f"distance {'unknown' if self.distance is None else self.distance}",
        ]
        return ", ".join(parts)
