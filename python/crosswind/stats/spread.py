"""How much values vary, as a share of where they lie: three coefficients without a unit.

All describe; none is an interval. They are of positive quantities, such as durations and rates: where the
middle is zero or values are negative a share of it means nothing, and they are refused.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.quantile import quantiles
from crosswind.stats.values import Refused, finite_values

# Of a normal law the median absolute deviation times this is the standard deviation: 1 / Phi^-1(3/4).
_NORMAL_MAD = 1.4826


def coefficient_of_variation(values: ArrayLike, *, ddof: int = 1) -> float:
    """Return the standard deviation over the mean.

    Args:
        values: shape (n,), n >= 2, not negative, any unit.
        ddof: 1 for a sample, 0 for a whole population.
    Raises: Refused: fewer than two values, one that is negative or not finite, or all zero.
    """
    array = _positive(values, at_least=2)
    largest = array.max()  # Relative values cannot overflow when they are squared.
    return float(np.std(array / largest, ddof=ddof) / np.mean(array / largest))


def robust_variation(values: ArrayLike) -> float:
    """Return 1.4826 times the median absolute deviation over the median, which outliers do not move.

    Of a normal law it is the coefficient of variation.

    Args:
        values: shape (n,), n >= 1, not negative, any unit.
    Raises: Refused: a value is negative or not finite, or the median is 0.
    Source: Rousseeuw and Croux, JASA 1993, section 1.
    """
    array = _positive(values, at_least=1)
    median = float(np.median(array))
    if median == 0:
        raise Refused(
            "values: their median is 0, and a share of it means nothing; use the interquartile range"
        )
    return _NORMAL_MAD * float(np.median(np.abs(array - median))) / median


def quartile_dispersion(values: ArrayLike) -> float:
    """Return (q3 - q1) / (q3 + q1), with quartiles of type 7; in [0, 1].

    Args:
        values: shape (n,), n >= 1, not negative, any unit.
    Raises: Refused: a value is negative or not finite, or both quartiles are 0.
    Source: Bonett, Computational Statistics & Data Analysis 2006.
    """
    q1, q3 = quantiles(_positive(values, at_least=1), (0.25, 0.75))
    if q3 == 0:
        raise Refused("values: both quartiles are 0, and a share of them means nothing; use tail_probability")
    return (q3 - q1) / (q3 + q1)


def _positive(values: ArrayLike, *, at_least: int) -> NDArray[np.float64]:
    array = finite_values(values, "values", at_least=at_least)
    if array.min() < 0:
        raise Refused(
            f"values: {array.min():g} is negative; variation as a share of the middle is of positive values"
        )
    if array.max() == 0:
        raise Refused("values: all are 0, and a share of 0 means nothing")
    return array
