"""Empirical distribution curves, thinned for drawing without moving a point.

Pooled or of one trial, a curve describes the operations it was made from. It carries no interval.
scipy's `ecdf` keeps every value, and a drawing of a million operations shows two hundred of them.
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
    n: int  # operations behind the curve, not points of it


def ecdf(values: ArrayLike, points_max: int = 200) -> Curve:
    """Return the share of `values` that is at most x, at no more than `points_max` of the values.

    Args:
        values: shape (n,), n >= 1, any unit, no NaN.
        points_max: at least 2; points are spaced evenly in rank.
    """
    ordered = sorted_values(values)
    ranks = _spaced(ordered.size, np.linspace(1, ordered.size, min(points_max, ordered.size)))
    return Curve(ordered[ranks - 1], ranks / ordered.size, ordered.size)


def ccdf(values: ArrayLike, points_max: int = 200) -> Curve:
    """Return the share of `values` that is larger than x, at no more than `points_max` of the values.

    Points are spaced evenly in the logarithm of the share, so that the tail, where one value is one step of a
    logarithmic axis, keeps every point. The largest value, with share 0, has no place on such an axis and is
    left out.
    """
    ordered = sorted_values(values)
    n = ordered.size
    if n == 1:
        return Curve(ordered[:0], np.empty(0), 1)
    above = np.geomspace(n - 1, 1, min(points_max, n - 1))
    ranks = _spaced(n, n - above)
    # Of equal values the last has the share of what is strictly larger.
    last = np.searchsorted(ordered, ordered[ranks - 1], side="right")
    last = np.unique(last[last < n])
    return Curve(ordered[last - 1], (n - last) / n, n)


def _spaced(n: int, positions: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the distinct ranks in [1, n] nearest to `positions`."""
    return np.unique(np.clip(np.rint(positions).astype(np.int64), 1, n))
