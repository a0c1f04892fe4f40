"""How many times larger one group of trials is than another, with an exact interval.

The estimate is the Hodges-Lehmann shift of the logarithms: the median of all ratios b / a. Its interval runs
from the r-th smallest to the r-th largest of these ratios, with r from the exact law of the Mann-Whitney
count, so it assumes neither a shape nor large numbers, only that one group's law is the other's multiplied by
a factor. Four trials a side are the fewest for 95 % when the sides are equal.

Source: Hodges and Lehmann 1963; Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3.
"""

import math
from dataclasses import dataclass
from functools import cache

from crosswind.stats.quantile import quantile
from crosswind.stats.trials import PerTrial, require_per_trial


@dataclass(frozen=True)
class RatioInterval:
    """`group` is `estimate` times `base`, and between `low` and `high` times with probability `coverage`."""

    confidence: float
    estimate: float
    low: float
    high: float
    rank: int  # low is the rank-th smallest of all ratios, high the rank-th largest
    coverage: float

    @property
    def differs(self) -> bool:
        """Whether a ratio of 1 lies outside the interval."""
        return self.low > 1 or self.high < 1


@dataclass(frozen=True)
class RatioNeedsTrials:
    """So few trials bound no ratio; with `needed` on each side an interval exists."""

    confidence: float
    estimate: float | None
    needed: int

    def __str__(self) -> str:
        return f"needs {self.needed} trials a side"


def ratio_interval(
    base: PerTrial, group: PerTrial, confidence: float = 0.95
) -> RatioInterval | RatioNeedsTrials:
    """Return how many times larger `group` is than `base`.

    Args:
        base: one value per trial, > 0 and finite, any unit.
        group: the same of the other group, same unit.
        confidence: in (0, 1).
    Returns: a RatioInterval (no unit), or RatioNeedsTrials.
    Raises:
        NotPerTrial: one of the two is not one value per trial.
        ValueError: a value is zero, negative or infinite; a ratio to it says nothing, compare the counts
            instead.
    """
    base, group = require_per_trial(base), require_per_trial(group)
    for side in (base, group):
        for trial, value in zip(side.trials, side.values, strict=True):
            if not 0 < value < math.inf:
                raise ValueError(f"trial {trial}: {value} has no ratio; it must be positive and finite")
    # Logarithms make the median of an even number of ratios symmetric: swapping the groups inverts it.
    logs = sorted(math.log(b) - math.log(a) for a in base.values for b in group.values)
    estimate = math.exp(quantile(logs, 0.5)) if logs else None
    rank, tail = _rank(len(base), len(group), (1 - confidence) / 2)
    if rank == 0 or estimate is None:
        return RatioNeedsTrials(confidence, estimate, _trials_needed(confidence))
    return RatioInterval(
        confidence, estimate, math.exp(logs[rank - 1]), math.exp(logs[-rank]), rank, coverage=1 - 2 * tail
    )


def _rank(m: int, n: int, tail: float) -> tuple[int, float]:
    """Return the largest r with P(U <= r - 1) <= tail and that probability; r = 0 if there is none."""
    arrangements = math.comb(m + n, m)
    cumulated, rank, reached = 0, 0, 0.0
    for u, count in enumerate(_arrangements_by_u(m, n)):
        cumulated += count
        if cumulated / arrangements > tail:
            break
        rank, reached = u + 1, cumulated / arrangements
    return rank, reached


@cache
def _arrangements_by_u(m: int, n: int) -> tuple[int, ...]:
    """Return in how many orders of m and n values exactly u = 0..mn pairs are inverted.

    These are the coefficients of the Gaussian binomial, the product over i = 1..n of (1 - x^(m+i)) / (1 -
    x^i), here in whole numbers: floating point would lose the small counts that decide an interval.
    """
    counts = [1] + [0] * (m * n)
    for i in range(1, n + 1):
        for u in range(m * n, m + i - 1, -1):  # times 1 - x^(m+i)
            counts[u] -= counts[u - m - i]
        for u in range(i, m * n + 1):  # divided by 1 - x^i
            counts[u] += counts[u - i]
    return tuple(counts)


def _trials_needed(confidence: float) -> int:
    """Return the fewest trials of each of two equal groups that give an interval."""
    n = 1
    while 1 / math.comb(2 * n, n) > (1 - confidence) / 2:
        n += 1
    return n
