"""Histograms of latencies: counted, merged, and asked for quantiles by rank.

Percentiles of several histograms are never averaged: the counts are added, bin by bin, and the merged
histogram is asked. Averages of percentiles are off by a factor of two in ordinary data. What was lost or
failed belongs to every quantile as slower than everything else, so it is kept as a count of its own.

Source: the bins of `log_linear` are those of HdrHistogram (https://hdrhistogram.org): a quantile is the
highest value that the bin with its rank stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.interval import Interval, NeedsTrials
from crosswind.stats.ranks import Convention, quantile_ranks, trials_needed
from crosswind.stats.values import Refused, finite_values


@dataclass(frozen=True)
class Histogram:
    """Counts of whole numbers, such as nanoseconds, in ascending bins."""

    edges: NDArray[np.int64]  # shape (m + 1,), ascending; edges[i] <= value < edges[i + 1]
    counts: NDArray[np.int64]  # shape (m,)
    overflow: int  # lost, failed or beyond the last edge: slower than everything that was counted
    unit: str

    def __post_init__(self) -> None:
        if self.edges.size != self.counts.size + 1 or np.any(np.diff(self.edges) <= 0):
            raise Refused(
                f"histogram: {self.edges.size} edges, {self.counts.size} counts; edges ascend, one more"
            )
        if self.overflow < 0 or (self.counts < 0).any():
            raise Refused("histogram: a count is negative; something was subtracted from it")

    @property
    def n(self) -> int:
        """Everything that was counted, lost and failed included."""
        return int(self.counts.sum()) + self.overflow

    def quantile(self, p: float) -> float:
        """Return the highest value of the bin with rank ceil(p n), +inf where it was lost or failed.

        Raises: Refused: nothing was counted, or p is not in [0, 1].
        """
        if self.n == 0:
            raise Refused("histogram: nothing was counted, so it has no quantiles")
        if not 0 <= p <= 1:
            raise Refused(f"p: {p} is not in [0, 1]; write P99 as 0.99")
        # The tolerance keeps 0.99 * 100 at rank 99, though floating point makes it a little more.
        return self.at_rank(max(1, math.ceil(p * self.n * (1 - 1e-12))))

    def at_rank(self, rank: int) -> float:
        """Return the highest value of the bin that holds the rank-th smallest, rank in [1, n]."""
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return math.inf if place == self.counts.size else float(self.edges[place + 1] - 1)

    def interval(
        self, p: float, confidence: float = 0.95, convention: Convention = Convention.EQUAL_TAILED
    ) -> Interval | NeedsTrials:
        """Return the interval of the `p`-quantile, by rank; it is as wide as the bins make it.

        What was counted has to be independent: one value per trial, or packets of different trials.
        Operations of one trial are not, and the interval of a histogram of them is many times too narrow: of
        these take the quantile of each trial's histogram, and `quantile_interval` over trials.
        """
        n = self.n
        estimate = self.quantile(p) if n else None
        ranks = quantile_ranks(n, p, confidence, convention)
        low = -math.inf if ranks.low is None else self._least_at_rank(ranks.low)
        high = math.inf if ranks.high is None else self.at_rank(ranks.high)
        lacking = ranks.low is None and convention != Convention.UPPER
        if lacking or ranks.high is None or estimate is None:
            needed = trials_needed(p, confidence, convention)
            return NeedsTrials(p, confidence, n, estimate, low, high, needed)
        return Interval(p, confidence, n, estimate, low, high, ranks.low, ranks.high, ranks.coverage)

    def _least_at_rank(self, rank: int) -> float:
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return math.inf if place == self.counts.size else float(self.edges[place])


def log_linear(
    values: ArrayLike, *, highest: int, unit: str, digits: int = 3, overflow: int = 0
) -> Histogram:
    """Count whole numbers in bins that keep so many significant digits, as HdrHistogram does.

    Args:
        values: shape (n,), not negative, in `unit`; fractions are cut off.
        highest: what is larger is counted as overflow.
        unit: of the values, such as `ns`.
        digits: significant digits that a bin keeps, in [1, 5].
        overflow: how many were lost or failed.
    Raises: Refused: a value is negative, NaN or infinite, or digits is outside.
    """
    if not 1 <= digits <= 5:
        raise Refused(f"digits: {digits} is not in [1, 5]")
    array = finite_values(values, "values", at_least=0)
    if array.size and array.min() < 0:
        raise Refused(f"values: {array.min():g} is negative; a duration below 0 is a clock that went back")
    edges = _log_linear_edges(highest, digits)
    inside = array[array < edges[-1]].astype(np.int64)
    bins = np.searchsorted(edges, inside, side="right") - 1
    counts = np.bincount(bins, minlength=edges.size - 1)
    return Histogram(edges, counts, overflow + array.size - inside.size, unit)


def merge(histograms: Iterable[Histogram]) -> Histogram:
    """Return the histogram of everything that was counted in several.

    Raises: Refused: there is none, or their units or bins differ: counts of different bins cannot be added
        without inventing where in a bin they lie.
    """
    several = list(histograms)
    if not several:
        raise Refused("histograms: none to merge")
    first = several[0]
    for place, other in enumerate(several[1:], start=2):
        if other.unit != first.unit:
            raise Refused(
                f'histogram {place}: its unit is "{other.unit}", of the first "{first.unit}"; convert one'
            )
        if not np.array_equal(other.edges, first.edges):
            raise Refused(
                f"histogram {place}: its bins are not those of the first; count both again with the same "
                "significant digits and the same highest value"
            )
    counts = np.sum([histogram.counts for histogram in several], axis=0)
    return Histogram(first.edges, counts, sum(histogram.overflow for histogram in several), first.unit)


def _log_linear_edges(highest: int, digits: int) -> NDArray[np.int64]:
    """Return the edges of bins that double in width each time the values do."""
    # Bins of width 1 up to twice 10^digits, rounded up to a power of two: no bin is wider than its digits.
    linear = 1 << math.ceil(math.log2(2 * 10**digits))
    edges, width = [np.arange(linear, dtype=np.int64)], 1
    while linear * width <= highest:
        edges.append(np.arange(linear * width, 2 * linear * width, 2 * width, dtype=np.int64))
        width *= 2
    return np.append(np.concatenate(edges), linear * width)
