"""Instants of one machine on the clock of another: a straight line between two comparisons of the clocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from crosswind.results.part import StoredPart

# Bounds up to this many times the least one are good.
_GOOD = 2
# Comparisons that are closer show no skew.
_APART_NS = 1_000_000_000


class ClockEstimate(StoredPart):
    """What a machine knows of another's clock (docs/reference/contracts.md, section 2: `clocks`).

    Attributes:
        offset_ns: the other clock minus its own; None before there is an estimate, as is `bound_ns`.
        bound_ns: the offset is not wrong by more than this.
        skew_ppb: by how much the other clock runs faster.
        round_trip_ns: the shortest so far.
        steps: how often the other clock was found to have been set.
    """

    offset_ns: int | None = None
    bound_ns: int | None = None
    skew_ppb: int = 0
    round_trip_ns: int | None = None
    exchanges: int = 0
    steps: int = 0


@dataclass(frozen=True)
class ClockComparison:
    """Two clocks at one instant; `there_ns` is not wrong by more than `bound_ns`."""

    here_ns: int
    there_ns: int
    bound_ns: int


class ClockLine(StoredPart):
    """Another machine's clock as a straight line over this one's.

    Attributes:
        here_ns, there_ns: an instant on both clocks.
        gained_ns: by how much the other clock had gained `over_ns` later.
        bound_ns: a translated instant is not wrong by more than this.
        skew_ppb: by how much the other clock runs faster.
    """

    here_ns: int
    there_ns: int
    gained_ns: int
    over_ns: int = Field(gt=0)
    bound_ns: int

    @property
    def skew_ppb(self) -> int:
        """By how much the other clock runs faster."""
        return self.gained_ns * 1_000_000_000 // self.over_ns

    def there(self, here_ns: int) -> int:
        """Return an instant of this clock on the other one."""
        since_ns = here_ns - self.here_ns
        return self.there_ns + since_ns + since_ns * self.gained_ns // self.over_ns

    def here(self, there_ns: int) -> int:
        """Return an instant of the other clock on this one."""
        since_ns = there_ns - self.there_ns
        return self.here_ns + since_ns - since_ns * self.gained_ns // (self.over_ns + self.gained_ns)


# The clock that all others are compared with.
SAME_CLOCK = ClockLine(here_ns=0, there_ns=0, gained_ns=0, over_ns=1, bound_ns=0)


def line_through(comparisons: Sequence[ClockComparison], skew_ppb: int) -> ClockLine:
    """Return the line through the first and the last good one of comparisons, in order.

    Its bound covers the good ones between, so a clock that changed its speed meanwhile has a wider one.

    Args:
        skew_ppb: by the last comparison, for where there is one good one.
    """
    # Each is an estimate from all exchanges before it, so those soon after the start may be much worse.
    enough_ns = _GOOD * min(it.bound_ns for it in comparisons)
    good = [it for it in comparisons if it.bound_ns <= enough_ns]
    first, last = good[0], good[-1]
    if last.here_ns - first.here_ns < _APART_NS:
        return line_from(last, skew_ppb)
    gained_ns = (last.there_ns - first.there_ns) - (last.here_ns - first.here_ns)
    line = ClockLine(
        here_ns=first.here_ns,
        there_ns=first.there_ns,
        gained_ns=gained_ns,
        over_ns=last.here_ns - first.here_ns,
        bound_ns=0,
    )
    bound_ns = max(it.bound_ns + abs(it.there_ns - line.there(it.here_ns)) for it in good)
    return line.model_copy(update={"bound_ns": bound_ns})


def line_from(comparison: ClockComparison, skew_ppb: int) -> ClockLine:
    """Return the line through one comparison, for instants close to it."""
    return ClockLine(
        here_ns=comparison.here_ns,
        there_ns=comparison.there_ns,
        gained_ns=skew_ppb,
        over_ns=1_000_000_000,
        bound_ns=comparison.bound_ns,
    )
