"""Fit a line through a volume over time: its slope is a rate, and a few outliers have no effect.

The slope is the median of the slopes between all pairs of points. Writes of a program make the curve rise in
steps. It is always exact to one step, so that the steps average out; they would not in a median of rates. A
dip affects only the slopes of the pairs around it.

Source: Theil 1950, "A rank-invariant method of linear and polynomial regression analysis"; Sen 1968, JASA 63.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# More points are thinned evenly: all their pairs would take long and add little.
_POINTS_MAX = 300


def slope(at_s: NDArray[np.float64], bits: NDArray[np.float64]) -> float:
    """Return the rate of a volume over time, in bit/s.

    Args:
        at_s: shape (n,), n >= 2, ascending.
        bits: shape (n,), carried until then.
    """
    kept = np.unique(np.linspace(0, at_s.size - 1, min(at_s.size, _POINTS_MAX)).round().astype(np.intp))
    first, second = _pairs(kept.size)
    rise, run = (values[kept[second]] - values[kept[first]] for values in (bits, at_s))
    return float(np.median(rise / run))


@lru_cache(maxsize=4)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of `count` points; cached, since resampling needs the same pairs hundreds of times."""
    first, second = np.triu_indices(count, k=1)
    return first, second


def offset(at_s: NDArray[np.float64], bits: NDArray[np.float64], rate_bps: float) -> float:
    """Return the volume at instant 0 of a line with that rate through the points, in bit."""
    return float(np.median(bits - rate_bps * at_s))
