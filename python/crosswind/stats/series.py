"""A series: numbers in the order in which they were measured."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.values import Refused


def series_of(values: ArrayLike, at_least: int, *, finite: bool = False) -> NDArray[np.float64]:
    """Return `values` as an array of floats, in their order.

    Args:
        values: shape (n,), any unit; one per trial, in the order in which the trials ran.
        at_least: the fewest that the caller can use.
        finite: whether the caller calculates with the values themselves and not with their ranks.
    Raises: Refused: too few values, one that is no number, a NaN, or an infinity where that cannot be used.
    """
    try:
        series = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Refused(f"values: {error}; give numbers only") from error
    if series.ndim != 1:
        raise Refused(f"values: of shape {series.shape}; give one value per trial, in the order they ran")
    if series.size < at_least:
        raise Refused(f"values: {series.size} of them; this needs at least {at_least}")
    if np.isnan(series).any():
        raise Refused("values: NaN has no place in an order; leave it out, or give +inf for what never ended")
    if finite and not np.isfinite(series).all():
        raise Refused("values: an infinite one cannot be averaged; test their normal scores instead")
    return series


def is_constant(series: NDArray[np.float64]) -> bool:
    """Return whether all values are the same; rounding apart, as in the last digits of a mean."""
    return bool(np.all(series == series[0])) or (
        math.isfinite(spread := float(np.ptp(series))) and spread <= 1e-13 * float(np.max(np.abs(series)))
    )
