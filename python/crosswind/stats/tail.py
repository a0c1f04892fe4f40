"""The share of values above a threshold.

A quantile between two modes (replies at 0.4 ms, and replies after a retransmission timeout of 200 ms) jumps
from one mode to the other when a few operations change. The share above a threshold between the modes changes
only a little, so it is the number to compare.
"""

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.values import Refused, flat


def tail_probability(values: ArrayLike, threshold: float) -> float:
    """Return the share of `values` strictly larger than `threshold`.

    Args:
        values: shape (n,), n >= 1, any unit; +inf is allowed, NaN is not.
        threshold: in the unit of `values`.
    Returns: in [0, 1].
    Raises: Refused: no values or a NaN.
    """
    array = flat(values)
    if array.size == 0:
        raise Refused("values: 0 of them; a share needs at least one")
    if np.isnan(array).any():
        raise Refused("values: NaN is neither above nor below the threshold; leave missing values out")
    return float(np.mean(array > threshold))
