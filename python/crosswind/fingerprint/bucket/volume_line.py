"""A line through a volume over time: its slope is a rate, and a few outliers do not move it.

The slope is the median of those between all pairs of points. A curve that climbs in steps, as the writes of a
program make it, is exact to one step whenever one looks, so that the steps average out; a median of rates has
no such mercy. A dip moves the slopes of the pairs around it alone.

Source: Theil 1950, "A rank-invariant method of linear and polynomial regression analysis"; Sen 1968, JASA 63.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# All pairs of more points than this would cost more than they tell: they are thinned evenly.
_POINTS_MAX = 300


def slope(at_s: NDArray[np.float64], bits: NDArray[np.float64]) -> float:
    """Return the rate of a volume over time, in bit/s.

    Args:
        at_s: shape (n,), n >= 2, ascending.
        bits: shape (n,), until then.
    """
    kept = np.unique(np.linspace(0, at_s.size - 1, min(at_s.size, _POINTS_MAX)).round().astype(np.intp))
    first, second = _pairs(kept.size)
    rise, run = (values[kept[second]] - values[kept[first]] for values in (bits, at_s))
    return float(np.median(rise / run))


@lru_cache(maxsize=4)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all pairs of so many points: intervals ask for the same ones hundreds of times."""
    first, second = np.triu_indices(count, k=1)
    return first, second


def offset(at_s: NDArray[np.float64], bits: NDArray[np.float64], rate_bps: float) -> float:
    """Return what a line of that rate through the points says of instant 0, in bit."""
    return float(np.median(bits - rate_bps * at_s))
