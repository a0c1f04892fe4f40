"""CONFIRM: the number of repetitions that makes a median's interval narrow enough, from a long pilot.

Subsets of s values are drawn from n values without replacement. Each has an interval for the quantile, and
the bounds are averaged over subsets. E(r) is the smallest s with both mean bounds within a share r of the
quantile of all values.

The published form draws 200 subsets. This module calculates the mean instead: for the j-th smallest of a
subset it is

    E[X_(j:s)] = sum_i x_(i) C(i-1, j-1) C(n-i, s-j) / C(n, s).

The published form stops at the first s that passes, which may be by chance. So its result is too small and
differs from seed to seed (174, 181 and 172 where 183 is exact).

Ranks jump as s grows, so a larger s may fail again. The result is the smallest s for which all larger sizes
pass too.

Source: Maricq et al., Taming Performance Variability, OSDI 2018, section 5; subset sizes from 10 on there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.quantile import quantile
from crosswind.stats.ranks import quantile_ranks, trials_needed
from crosswind.stats.values import Refused, finite_values

_SCANNED = 2000  # Up to this number of sizes all are tested; above it a search finds the place first.
_FINITE_SHARE = 0.5  # Subsets of more than half of the values have most values in common.

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Confirm:
    """The number of repetitions that brings the interval within a share of the quantile, by a pilot."""

    p: float
    confidence: float
    within: float  # share, so 0.01 is 1 %
    n: int  # values of the pilot
    quantile: float  # of all of them, type 7, in their unit
    needed: int | None  # smallest subset size for which all larger ones pass; None if it is above n
    reached: float  # the share for all n values: the wider side of their interval

    @property
    def strained(self) -> bool:
        """Whether `needed` is so near n that subsets overlap, and differ less than new trials would."""
        return self.needed is not None and self.needed > _FINITE_SHARE * self.n


@dataclass(frozen=True)
class ConfirmCurve:
    """Mean bounds by subset size, in the unit of the values."""

    size: NDArray[np.int64]  # shape (m,), ascending
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def confirm(
    values: ArrayLike,
    *,
    within: float,
    p: float = 0.5,
    confidence: float = 0.95,
) -> Confirm:
    """Return the exact number of repetitions that the `p`-quantile needs.

    Args:
        values: shape (n,), one per independent repetition, any unit; at least `trials_needed` of them.
        within: above 0; largest distance of a bound from the quantile, as a share of it.
        p: in (0, 1).
        confidence: of the interval, in (0, 1).
    Raises: Refused: too few values, a NaN or infinite one, or a quantile of 0, which has no share.
    Source: Maricq et al., OSDI 2018; the closed form is the mean of an order statistic of a sample without
        replacement (David and Nagaraja, Order Statistics, 2003, section 3.7).
    """
    subsets = _Subsets(values, p, confidence)
    centre = subsets.quantile(within)

    def passes(size: int) -> bool:
        return _share(subsets.mean_bounds(size), centre) <= within

    n, first = subsets.n, subsets.smallest
    reached = _share(subsets.mean_bounds(n), centre)
    needed = _smallest_from_which_all_pass(passes, first, n)
    return Confirm(p, confidence, within, n, centre, needed, reached)


def confirm_curve(values: ArrayLike, points_max: int = 300) -> ConfirmCurve:
    """Return the mean bounds of the median's 95 % interval by subset size, at most `points_max` of them.

    Sizes are spaced evenly in their logarithm. Values and errors are those of `confirm`.
    """
    subsets = _Subsets(values, 0.5, 0.95)
    sizes = np.unique(np.rint(np.geomspace(subsets.smallest, subsets.n, points_max)).astype(np.int64))
    bounds = np.array([subsets.mean_bounds(int(size)) for size in sizes])
    return ConfirmCurve(sizes, bounds[:, 0], bounds[:, 1])


class _Subsets:
    """Means over all subsets of one size."""

    def __init__(self, values: ArrayLike, p: float, confidence: float) -> None:
        self.smallest = trials_needed(p, confidence)
        self.ordered = np.sort(finite_values(values, "values of the pilot", at_least=self.smallest))
        self.n = self.ordered.size
        self._quantile_of = p, confidence
        logs = np.log(np.arange(1, self.n + 1, dtype=np.float64))
        self._log_factorial = np.concatenate(([0.0], np.cumsum(logs)))

    def quantile(self, within: float) -> float:
        """Return the quantile of all values, of which `within` is a share."""
        if not within > 0:
            raise Refused(f"within: {within} is not above 0; an interval never has width 0")
        centre = quantile(self.ordered, self._quantile_of[0])
        if centre == 0:
            raise Refused(
                "values of the pilot: their quantile is 0, which has no share; take quantile_interval"
            )
        return centre

    def ranks(self, size: int) -> tuple[int, int]:
        """Return the ranks of the interval of a subset; `size` is at least `smallest`."""
        ranks = quantile_ranks(size, *self._quantile_of)
        # The smallest size has both ranks, and so has every larger one.
        assert ranks.low is not None
        assert ranks.high is not None
        return ranks.low, ranks.high

    def mean_bounds(self, size: int) -> Bounds:
        """Return the mean of the lower and of the upper bound over all subsets of `size` values."""
        low, high = self.ranks(size)
        return self._mean(low, size), self._mean(high, size)

    def _mean(self, rank: int, size: int) -> float:
        """Return the mean of the `rank`-th smallest over all subsets of `size` values."""
        n, log_factorial = self.n, self._log_factorial
        # It is the i-th smallest of all values, and i has the standard deviation sigma. Beyond `reach` the
        # probability is below 1e-17. The second term is for the first ranks, which are skewed.
        spacing = (n + 1) / (size + 1)
        sigma = math.sqrt(rank * (size - rank + 1) * (n + 1) * (n - size) / ((size + 1) ** 2 * (size + 2)))
        reach = 10 * sigma + 40 * spacing
        first = max(rank, math.floor(rank * spacing - reach))
        last = min(n - size + rank, math.ceil(rank * spacing + reach))
        logs = log_factorial[first - 1 : last] - log_factorial[first - rank : last - rank + 1]
        above = n - last, n - first + 1  # Range of n - i, which falls as i grows.
        besides = size - rank
        logs += (log_factorial[above[0] : above[1]] - log_factorial[above[0] - besides : above[1] - besides])[
            ::-1
        ]
        # The division by the sum of the weights removes factors without i, and rounding of the logarithms.
        weights = np.exp(logs - logs.max())
        # Not `weights @ values`: a long product uses the threads of the algebra library, with which the whole
        # search took 4.6 s on a busy machine instead of 0.06 s.
        return float((weights * self.ordered[first - 1 : last]).sum() / weights.sum())


def _share(bounds: Bounds, centre: float) -> float:
    """Return the distance of the farther bound from the centre, as a share of the centre."""
    return max(abs(bound - centre) for bound in bounds) / abs(centre)


def _smallest_from_which_all_pass(passes: Callable[[int], bool], first: int, last: int) -> int | None:
    """Return the smallest size in [first, last] for which all larger ones pass; None if `last` fails.

    Above `_SCANNED` sizes only those near the crossing are tested. The width of an interval falls with
    1 / sqrt(size), and a rank that jumps by one moves a bound by about 2 / (z sqrt(size)) of that width. So a
    size that fails is at most about 2 sqrt(size) beyond the first that passes; 4 sqrt(size) are tested.
    """
    if last - first < _SCANNED:
        return _after_the_last_failure(passes, range(last, first - 1, -1))
    # Halve the size until it fails, then bisect.
    passing = last
    if not passes(passing):
        return None
    failing = max(first, passing // 2)
    while failing > first and passes(failing):
        passing, failing = failing, max(first, failing // 2)
    if passes(failing):
        passing = failing
    while passing - failing > 1:
        middle = (failing + passing) // 2
        passing, failing = (middle, failing) if passes(middle) else (passing, middle)
    around = 16 + math.ceil(4 * math.sqrt(passing))
    highest, lowest = min(last, passing + around), max(first, passing - around)
    return _after_the_last_failure(passes, range(highest, lowest - 1, -1))


def _after_the_last_failure(passes: Callable[[int], bool], downwards: Iterable[int]) -> int | None:
    """Return the last size in descending order before one fails; None if the first fails."""
    needed = None
    for size in downwards:
        if not passes(size):
            break
        needed = size
    return needed
