"""How evenly something is shared.

Jain's index is of one trial: computed from its own shares, then summarised over trials. The index of averages
over trials says nothing, because averaging evens out who got more: trials [1, 3] and [3, 1] have 0.8 each,
their average 1.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.values import Refused, finite_values


def jain_index(shares: ArrayLike) -> float:
    """Return Jain's fairness index of the shares of one trial.

    Args:
        shares: shape (n,), not negative, one unit for all; of one common span of time.
    Returns: in [1/n, 1], 1 where all have the same; NaN without shares, or where all are 0.
    Raises: Refused: a share is negative, infinite or NaN.
    Source: Jain, Chiu, Hawe, DEC-TR-301 (1984), equation 1: (sum x)^2 / (n sum x^2).
    """
    values = finite_values(shares, "shares", at_least=0)
    if values.min(initial=0.0) < 0:
        raise Refused(f"shares: {values.min():g} is negative; nobody is given less than nothing")
    largest = values.max(initial=0.0)
    if largest == 0.0:
        return math.nan
    # The index does not depend on the unit; relative values cannot overflow when they are squared.
    values = values / largest
    return float(values.sum() ** 2 / (values.size * np.square(values).sum()))
