"""Quantiles of type 7: linear interpolation between order statistics.

Type 7 (Hyndman and Fan 1996) is the default of numpy, pandas, R and matplotlib, so their figures of the same
samples agree. numpy does not do the interpolation here, because it returns NaN between two infinities, and an
infinite latency (an operation or a trial that never ended) is a valid value.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.values import Refused, flat


def quantile(values: ArrayLike, p: float) -> float:
    """Return the type-7 quantile of `values`.

    Args:
        values: shape (n,), n >= 1, any unit; +inf is allowed, NaN is not.
        p: in [0, 1].
    Returns: the quantile in the unit of `values`.
    Raises: Refused: no values, a NaN among them, or p outside [0, 1].
    Source: Hyndman and Fan 1996, definition 7.
    """
    return quantiles(values, (p,))[0]


def quantiles(values: ArrayLike, ps: Sequence[float]) -> tuple[float, ...]:
    """Return several type-7 quantiles of `values`, which are sorted once."""
    ordered = sorted_values(values)
    return tuple(_of_sorted(ordered, p) for p in ps)


def sorted_values(values: ArrayLike) -> NDArray[np.float64]:
    """Return `values` as a sorted array of floats.

    Raises: Refused: no values, or a NaN among them; give +inf for an operation that never ended.
    """
    ordered = np.sort(flat(values))
    if ordered.size == 0:
        raise Refused("values: 0 of them; a quantile needs at least one")
    if math.isnan(ordered[-1]):  # NaN sorts last
        raise Refused(
            "values: NaN has no rank; leave missing values out, or give +inf if something never ended"
        )
    return ordered


def _of_sorted(ordered: NDArray[np.float64], p: float) -> float:
    if not 0 <= p <= 1:
        raise Refused(f"p: {p} is not in [0, 1]; write P99 as 0.99")
    position = p * (ordered.size - 1)
    below = math.floor(position)
    above = min(below + 1, ordered.size - 1)
    low, high = float(ordered[below]), float(ordered[above])
    share = position - below
    if low == high or share == 0:
        return low
    return low + share * (high - low)
