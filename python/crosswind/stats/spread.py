"""How much values vary, as a share of where they lie.

It describes, and is no interval. It is of positive quantities, such as durations and rates: where the mean is
zero or values are negative a share of it means nothing, and they are refused.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.values import Refused, finite_values


def coefficient_of_variation(values: ArrayLike) -> float:
    """Return the standard deviation of a sample over the mean.

    Args:
        values: shape (n,), n >= 2, not negative, any unit.
    Raises: Refused: fewer than two values, one that is negative or not finite, or all zero.
    """
    array = finite_values(values, "values", at_least=2)
    if array.min() < 0:
        raise Refused(
            f"values: {array.min():g} is negative; variation as a share of the middle is of positive values"
        )
    largest = array.max()
    if largest == 0:
        raise Refused("values: all are 0, and a share of 0 means nothing")
    relative = array / largest  # `scipy.stats.variation` overflows where values are squared.
    return float(np.std(relative, ddof=1) / np.mean(relative))
