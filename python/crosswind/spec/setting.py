"""The setting of a condition, which its rules read, and the findings that they yield."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from crosswind.spec.declared import NO_APPLICATION, Tested
from crosswind.spec.document import Path
from crosswind.spec.network import Link, Network

Finding = tuple[Path, str]


@dataclass(frozen=True)
class Setting:
    """The network and trial of a condition. None: unknown (an error in the file, or no experiment)."""

    hosts: list[str] | None = None
    nodes: Collection[str] | None = None
    mtu_bytes: int | None = None
    scale: float = 1.0
    network: Network | None = None
    # Of the links behind an element, as written: the lowest rate, and whether one is unlimited.
    uplink_bps: int | None = None
    uplink_unlimited: bool = False
    tested: Tested = NO_APPLICATION

    def at(self, place: str, on: Sequence[str] | None) -> Setting:
        """Return this setting with the rates of the links at a place."""
        return self if self.network is None else self._with(self.network.wires(place, on))

    def between(self, hosts: Iterable[str]) -> Setting:
        """Return this setting with the rates of the links of these hosts."""
        if self.network is None:
            return self
        ups, downs = self.network.uplinks, self.network.downlinks
        return self._with([link for host in hosts if host in ups for link in (ups[host], downs[host])])

    def _with(self, links: Sequence[Link]) -> Setting:
        rates_bps = [link.rate_bps for link in links if link.rate_bps is not None]
        slowest_bps = min(rates_bps, default=None)
        return replace(self, uplink_bps=slowest_bps, uplink_unlimited=len(rates_bps) < len(links))
