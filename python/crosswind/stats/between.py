"""How far one group of trials lies from another: an estimate with its interval, or what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

Between = Literal["ratio", "difference"]


@dataclass(frozen=True)
class _GroupInterval:
    """The true value lies between `low` and `high` with probability `coverage`."""

    confidence: float
    estimate: float
    low: float
    high: float
    rank: int  # low is the rank-th smallest of all pairs of trials, high the rank-th largest
    coverage: float
    exact: bool  # coverage is counted out; else, for large groups, the normal law's

    equal: ClassVar[float]  # the value between groups that do not differ

    @property
    def differs(self) -> bool:
        """Whether the value of equal groups lies outside the interval."""
        return self.low > self.equal or self.high < self.equal


@dataclass(frozen=True)
class ShiftInterval(_GroupInterval):
    """`group` is `base` plus `estimate`."""

    equal = 0.0


@dataclass(frozen=True)
class RatioInterval(_GroupInterval):
    """`group` is `base` times `estimate`."""

    equal = 1.0


@dataclass(frozen=True)
class GroupsNeedTrials:
    """Groups with too few trials for an interval; with `needed` on each side one exists."""

    of: Between
    confidence: float
    estimate: float | None
    needed: int

    def __str__(self) -> str:
        return f"needs {self.needed} trials a side"
