"""The mean of a few independent values, with Student's interval.

The interval is exact for a normal distribution. It is used here for means of independent values, which are
nearly normal. No interval of few values accounts for rare extreme values that were not measured. scipy's
`ttest_1samp` gives the same interval, but warns where all values are equal.

Source: Student, "The probable error of a mean", Biometrika 1908.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from crosswind.stats.bounded import Bounded
from crosswind.stats.values import finite_values


def student_mean(values: ArrayLike, confidence: float = 0.95) -> Bounded | None:
    """Return the mean of values; None for fewer than two, which have no spread.

    Args:
        values: shape (n,), any unit.
        confidence: in (0, 1).
    """
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    each = finite_values(values, "values")
    if each.size < 2:
        return None
    half = float(stats.t.ppf((1 + confidence) / 2, each.size - 1) * each.std(ddof=1)) / math.sqrt(each.size)
    mean = float(each.mean())
    return Bounded(mean, mean - half, mean + half)
