"""Split a series into two levels by least absolute deviations.

Absolute deviations from medians are robust against a dip or a spike; squares would put the split beside it.
The cost of all splits is computed in one pass in each direction, O(n log n).

Source: two-level change point by least absolute deviations, as in this project's analysis of NSDI '20; Bai
1995, "Least absolute deviation estimation of a shift", Econometric Theory 11.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class TwoLevels:
    """The best split of n values.

    Attributes:
        index: the first value of the second level, in [1, n - 1].
        first, second: medians of the two parts, in the unit of the values.
        explained: share of the absolute deviations from one median that the split removes, in [0, 1].
    """

    index: int
    first: float
    second: float
    explained: float


def two_levels(values: ArrayLike) -> TwoLevels:
    """Return the split with the least absolute deviations; the earliest of equally good ones.

    Args:
        values: shape (n,), n >= 2, finite.
    Raises: ValueError: fewer than two values.
    """
    series = np.asarray(values, dtype=np.float64)
    if series.size < 2:
        raise ValueError(f"{series.size} values have no two levels; two are needed")
    ahead = _costs(series)
    behind = _costs(series[::-1])[::-1]
    costs = ahead[:-1] + behind[1:]
    index = int(np.argmin(costs)) + 1
    whole = float(ahead[-1])
    return TwoLevels(
        index=index,
        first=float(np.median(series[:index])),
        second=float(np.median(series[index:])),
        explained=1 - float(costs[index - 1]) / whole if whole > 0 else 0.0,
    )


def _costs(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every prefix the sum of absolute deviations from its median."""
    below: list[float] = []  # The lower half, negated, so that its largest value comes first.
    above: list[float] = []
    sum_below = sum_above = 0.0
    costs = np.empty(series.size)
    for position, value in enumerate(series):
        if below and value > -below[0]:
            heapq.heappush(above, value)
            sum_above += value
        else:
            heapq.heappush(below, -value)
            sum_below += value
        if len(below) > len(above) + 1:
            moved = -heapq.heappop(below)
            heapq.heappush(above, moved)
            sum_below -= moved
            sum_above += moved
        elif len(above) > len(below):
            moved = heapq.heappop(above)
            heapq.heappush(below, -moved)
            sum_above -= moved
            sum_below += moved
        median = -below[0]
        costs[position] = median * len(below) - sum_below + sum_above - median * len(above)
    return np.maximum(costs, 0.0)
