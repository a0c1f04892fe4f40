"""Rates that changed during the measurement: of competing traffic, and of links."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from crosswind.results.part import StoredPart


@dataclass(frozen=True, slots=True)
class RateStep:
    """A rate from an instant on, in bit/s; None is unlimited."""

    at_ns: int
    rate_bps: int | None


class InterferenceSource(StoredPart):
    """The IP rates that one direction of interference drew; 0 is silence. `source` is such as `h0->h1`."""

    source: str
    draws: list[RateStep] = Field(default_factory=list)


class DrivenLink(StoredPart):
    """The wire rates of a link whose capacity changes; 0 is an outage."""

    link: str
    lost_records: int = 0
    changes: list[RateStep] = Field(default_factory=list)
