"""Exact, distribution-free interval for a quantile over trials, from order statistics.

No shape is assumed: the bounds are two of the values, chosen by rank (`ranks`, which also has the number of
trials they need). With too few trials for a bound, the result has the number of missing trials instead.

Source: Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010, ch. 2.
"""

import math
from dataclasses import dataclass

from crosswind.stats.quantile import quantile
from crosswind.stats.ranks import quantile_ranks, trials_needed
from crosswind.stats.trials import PerTrial, require_per_trial


@dataclass(frozen=True)
class Interval:
    """The quantile lies in [low, high] with probability `coverage` at least; `coverage` >= `confidence`."""

    p: float
    confidence: float
    n: int  # trials
    estimate: float  # type-7 quantile of the n values, in their unit
    low: float
    high: float
    low_rank: int  # in [1, n]; low is the low_rank-th smallest value
    high_rank: int
    coverage: float


@dataclass(frozen=True)
class NeedsTrials:
    """There are too few trials for an interval, whatever their values."""

    p: float
    confidence: float
    n: int
    estimate: float | None  # None without trials
    low: float  # -inf where it does not exist
    high: float  # +inf where it does not exist
    needed: int  # trials in all

    @property
    def more(self) -> int:
        """Trials to add."""
        return self.needed - self.n

    def __str__(self) -> str:
        return f"needs {self.more} more trial{'s' if self.more > 1 else ''}"


def quantile_interval(
    values: PerTrial,
    p: float,
    confidence: float = 0.95,
) -> Interval | NeedsTrials:
    """Return the exact interval of the `p`-quantile over trials, or how many trials it needs.

    Args:
        values: one per trial, any unit; a failed trial as +inf (`PerTrial.of` does that).
        p: in (0, 1); 0.5 is the median over trials.
        confidence: in (0, 1).
    Returns: an Interval in the unit of `values`, or NeedsTrials with the missing bounds as -inf and +inf.
    Raises:
        NotPerTrial: `values` are operations, or anything else that is not one value per trial.
        Refused: p or confidence is not in (0, 1).
    """
    values = require_per_trial(values)
    n = len(values)
    ordered = sorted(values.values)
    estimate = quantile(ordered, p) if ordered else None
    ranks = quantile_ranks(n, p, confidence)
    low = ordered[ranks.low - 1] if ranks.low is not None else -math.inf
    high = ordered[ranks.high - 1] if ranks.high is not None else math.inf
    if ranks.low is None or ranks.high is None or estimate is None:
        return NeedsTrials(p, confidence, n, estimate, low, high, trials_needed(p, confidence))
    return Interval(p, confidence, n, estimate, low, high, ranks.low, ranks.high, ranks.coverage)
