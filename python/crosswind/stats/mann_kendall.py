"""Mann-Kendall: whether later trials tend to be larger, or smaller, than earlier ones."""

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.series import is_constant, series_of
from crosswind.stats.tested import CONSTANT, Tested


def mann_kendall(values: ArrayLike) -> Tested:
    """Test independence against a monotone trend, two-sided.

    Args:
        values: shape (n,), n >= 3, any unit, in the order of the trials.
    Returns: S, the pairs that rise less the pairs that fall; p is exact without ties up to 50 values, and
        normal with the correction for ties otherwise.
    Source: Mann 1945; Kendall 1970, Rank Correlation Methods.
    """
    from scipy import stats

    series = series_of(values, 3)
    if is_constant(series):
        return CONSTANT
    n = series.size
    exact = np.unique(series).size == n and n <= 50
    p = stats.kendalltau(np.arange(n), series, method="exact" if exact else "asymptotic").pvalue
    # Ranks instead of values: two trials that never ended are equal, and inf - inf is not a number.
    ranks = stats.rankdata(series)
    rising = sum(int(np.sum(np.sign(ranks[index + 1 :] - ranks[index]))) for index in range(n - 1))
    return Tested(rising, float(p), "exact" if exact else "asymptotic")
