"""The coefficient of variation: how much values vary, as a share of their mean.

It describes values and is no interval. It is for positive quantities, such as durations and rates. A mean of
0 or negative values are refused, because a share would have no meaning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.values import Refused, finite_values


def coefficient_of_variation(values: ArrayLike) -> float:
    """Return the standard deviation of a sample divided by its mean.

    Args:
        values: shape (n,), n >= 2, not negative, any unit.
    Raises: Refused: fewer than two values, one that is negative or not finite, or all zero.
    """
    array = finite_values(values, "values", at_least=2)
    if array.min() < 0:
        raise Refused(
            f"values: {array.min():g} is negative; the coefficient of variation is for positive values only"
        )
    largest = array.max()
    if largest == 0:
        raise Refused("values: all are 0, and a share of 0 means nothing")
    relative = array / largest  # `scipy.stats.variation` overflows where values are squared.
    return float(np.std(relative, ddof=1) / np.mean(relative))
