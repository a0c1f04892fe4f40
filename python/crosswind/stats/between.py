"""The difference or ratio of two groups of trials: an estimate with its interval, or the trials it needs."""

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
    exact: bool  # coverage is exact; else, for large groups, from the normal distribution

    equal: ClassVar[float]  # the value for groups without a difference

    @property
    def differs(self) -> bool:
        """Whether the interval excludes the value of equal groups."""
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
    """Groups with too few trials for an interval, which needs `needed` trials in each group."""

    of: Between
    confidence: float
    estimate: float | None
    needed: int

    def __str__(self) -> str:
        return f"needs {self.needed} trials a side"
