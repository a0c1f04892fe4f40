"""Jain's fairness index: how evenly something is shared.

The index is computed for each trial and then summarised over trials. The index of averages over trials would
be wrong, because averaging hides differences: trials [1, 3] and [3, 1] have 0.8 each, their average has 1.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.values import Refused, finite_values


def jain_index(shares: ArrayLike) -> float:
    """Return Jain's fairness index of the shares of one trial.

    Args:
        shares: shape (n,), not negative, all in one unit, measured over the same time.
    Returns: in [1/n, 1], 1 where all are equal; NaN without shares, or where all are 0.
    Raises: Refused: a share is negative, infinite or NaN.
    Source: Jain, Chiu, Hawe, DEC-TR-301 (1984), equation 1: (sum x)^2 / (n sum x^2).
    """
    values = finite_values(shares, "shares", at_least=0)
    if values.min(initial=0.0) < 0:
        raise Refused(f"shares: {values.min():g} is negative; give shares of 0 or more")
    largest = values.max(initial=0.0)
    if largest == 0.0:
        return math.nan
    # The index does not depend on the unit; relative values cannot overflow when they are squared.
    values = values / largest
    return float(values.sum() ** 2 / (values.size * np.square(values).sum()))
