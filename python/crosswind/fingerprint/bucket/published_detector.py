"""The rule by which the NSDI '20 artifact finds an empty bucket, for comparison with `token_bucket.py`.

It reports an empty bucket at the first sample n where three quarters of the least of the first ten samples
exceed the greatest of the last ten. So it is about ten samples late. It never reports where one of the first
ten samples is low (a partial first sample, a dip), or where the bucket is empty within them. It finds neither
budget nor refill.

Source: `empty_bucket.py` of the artifact of Uta et al. 2020, NSDI.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_WINDOW = 10
_SHARE = 0.75


def reported_at(rates: ArrayLike) -> int | None:
    """Return after how many samples the rule reports an empty bucket, or None.

    Args:
        rates: shape (n,), any unit.
    """
    series = np.asarray(rates, dtype=np.float64)
    floor = _SHARE * series[:_WINDOW].min() if series.size >= 2 * _WINDOW else 0.0
    for n in range(2 * _WINDOW, series.size + 1):
        if floor > series[n - _WINDOW : n].max():
            return n
    return None
