"""The mean of a few independent values of one law, with Student's interval.

Exact where the law is normal. Means of several things that do not know of each other are nearly so, which is
what it is given here; a rare value that lies far off and was not met is in no interval of few values. scipy's
`ttest_1samp` gives the same interval, and warns where all values are equal.

Source: Student, "The probable error of a mean", Biometrika 1908.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from crosswind.stats.bounded import Bounded
from crosswind.stats.values import finite_values


def student_mean(values: ArrayLike, confidence: float = 0.95) -> Bounded | None:
    """Return the mean of values; None of fewer than two, which say nothing of how far they lie apart.

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
