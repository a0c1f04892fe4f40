"""A series: numbers in the order in which they were measured."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.values import Refused


def series_of(values: ArrayLike, at_least: int, *, finite: bool = False) -> NDArray[np.float64]:
    """Return `values` as an array of floats, in their order.

    Args:
        values: shape (n,), any unit; one per trial, in the order in which the trials ran.
        at_least: the number of values that the caller needs.
        finite: whether the caller needs finite values, because it does not use their ranks only.
    Raises: Refused: too few values, one that is no number, a NaN, or an infinite one if `finite`.
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
        raise Refused("values: NaN has no rank; leave it out, or give +inf for a trial that never ended")
    if finite and not np.isfinite(series).all():
        raise Refused("values: one is infinite and cannot be averaged; test their normal scores instead")
    return series


def is_constant(series: NDArray[np.float64]) -> bool:
    """Return whether all values are equal, up to rounding in the last digits."""
    return bool(np.all(series == series[0])) or (
        math.isfinite(spread := float(np.ptp(series))) and spread <= 1e-13 * float(np.max(np.abs(series)))
    )
