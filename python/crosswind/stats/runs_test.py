"""Runs above and below the median: too few say that neighbours are alike, too many that they alternate."""

from math import comb

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.runs import run_lengths
from crosswind.stats.series import series_of
from crosswind.stats.tested import CONSTANT, Tested


def runs_test(values: ArrayLike) -> Tested:
    """Test independence by the number of runs above and below the median, exactly and two-sided.

    Args:
        values: shape (n,), any unit, in the order of the trials. Values equal to the median are dropped, as
            they are on neither side.
    Returns: the number of runs; p is twice the smaller tail.
    Source: Wald and Wolfowitz 1940.
    """
    series = series_of(values, 2)
    middle = np.median(series)
    above = series[series != middle] > middle
    high, low = int(above.sum()), int((~above).sum())
    if high == 0 or low == 0:
        return CONSTANT
    runs = run_lengths(above).size + run_lengths(~above).size
    counts = {number: _arrangements(number, high, low) for number in range(2, 2 * min(high, low) + 2)}
    total = comb(high + low, high)
    fewer = sum(count for number, count in counts.items() if number <= runs)
    more = sum(count for number, count in counts.items() if number >= runs)
    return Tested(runs, min(1.0, 2 * (min(fewer, more) / total)), "exact")


def _arrangements(runs: int, high: int, low: int) -> int:
    """Return in how many orders of `high` and `low` marks there are exactly so many runs."""
    half, odd = divmod(runs, 2)
    if not odd:
        return 2 * comb(high - 1, half - 1) * comb(low - 1, half - 1)
    return comb(high - 1, half) * comb(low - 1, half - 1) + comb(high - 1, half - 1) * comb(low - 1, half)
