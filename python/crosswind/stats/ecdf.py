"""Empirical distribution curves with fewer points for drawing; each point is exact.

A curve describes its operations, of one trial or pooled. It has no interval. scipy's `ecdf` returns every
value, and a drawing needs two hundred of a million.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.quantile import sorted_values


@dataclass(frozen=True)
class Curve:
    """`share[i]` belongs to `value[i]`; both sorted by value, the unit is that of the samples."""

    value: NDArray[np.float64]
    share: NDArray[np.float64]  # in [0, 1]
    n: int  # number of operations, not of points


def ecdf(values: ArrayLike, points_max: int = 200) -> Curve:
    """Return the share of `values` that is at most x, for at most `points_max` values of x.

    Args:
        values: shape (n,), n >= 1, any unit, no NaN.
        points_max: at least 2; points are spaced evenly in rank.
    """
    ordered = sorted_values(values)
    ranks = _spaced(ordered.size, np.linspace(1, ordered.size, min(points_max, ordered.size)))
    return Curve(ordered[ranks - 1], ranks / ordered.size, ordered.size)


def ccdf(values: ArrayLike, points_max: int = 200) -> Curve:
    """Return the share of `values` that is larger than x, for at most `points_max` values of x.

    Points are spaced evenly in the logarithm of the share, so that the tail has all its points. The largest
    value has share 0, which a logarithmic axis cannot show, and is left out.
    """
    ordered = sorted_values(values)
    n = ordered.size
    if n == 1:
        return Curve(ordered[:0], np.empty(0), 1)
    above = np.geomspace(n - 1, 1, min(points_max, n - 1))
    ranks = _spaced(n, n - above)
    # The last of equal values has the share of strictly larger values.
    last = np.searchsorted(ordered, ordered[ranks - 1], side="right")
    last = np.unique(last[last < n])
    return Curve(ordered[last - 1], (n - last) / n, n)


def _spaced(n: int, positions: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the distinct ranks in [1, n] nearest to `positions`."""
    return np.unique(np.clip(np.rint(positions).astype(np.int64), 1, n))
