"""Turning points: how often a series changes its direction."""

from functools import lru_cache
from math import factorial, sqrt

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.series import series_of
from crosswind.stats.tested import CONSTANT, Tested

# Up to here the law of the number is counted; beyond, it is normal to three digits.
EXACT_MAX = 30


def turning_points(values: ArrayLike) -> Tested:
    """Test independence by the number of values above or below both their neighbours, two-sided.

    Few speak of a drift, many of alternation, such as trials with and without a rest. A step is seen hardly.

    Args:
        values: shape (n,), n >= 3, any unit, in the order of the trials. Of equal neighbours one is kept.
    Returns: the number T. p is twice the smaller tail: exact up to n = 30, then
        T ~ N(2 (n - 2) / 3, (16 n - 29) / 90).
    Source: Bienayme 1874; Kendall, Time-Series, section 2.
    """
    from scipy import stats

    series = series_of(values, 3)
    series = series[np.concatenate(([True], series[1:] != series[:-1]))]
    n = series.size
    if n < 3:
        return CONSTANT
    rises = series[1:] > series[:-1]
    found = int(np.sum(rises[1:] != rises[:-1]))
    if n <= EXACT_MAX:
        counts = turning_point_counts(n)
        fewer, more = sum(counts[: found + 1]) / factorial(n), sum(counts[found:]) / factorial(n)
        return Tested(found, min(1.0, 2 * min(fewer, more)), "exact")
    z = (found - 2 * (n - 2) / 3) / sqrt((16 * n - 29) / 90)
    return Tested(found, float(2 * stats.norm.sf(abs(z))), "asymptotic")


@lru_cache(maxsize=EXACT_MAX)
def turning_point_counts(n: int) -> tuple[int, ...]:
    """Return how many of the n! orders of n >= 2 distinct values have 0, 1, ..., n - 2 turning points.

    An order grows by the rank of its next value among those so far; what decides is the rank of the last one
    and whether the last step rose.
    """
    # (rank of the last from 0, rose) -> orders by their number of turning points.
    states: dict[tuple[int, bool], tuple[int, ...]] = {(0, False): (1,), (1, True): (1,)}
    for size in range(2, n):
        grown: dict[tuple[int, bool], list[int]] = {}
        for (last, rose), counts in states.items():
            for rank in range(size + 1):
                rises = rank > last
                turned = int(rises != rose)
                sums = grown.setdefault((rank, rises), [0] * size)
                for number, count in enumerate(counts):
                    sums[number + turned] += count
        states = {state: tuple(sums) for state, sums in grown.items()}
    return tuple(sum(column) for column in zip(*states.values(), strict=True))
