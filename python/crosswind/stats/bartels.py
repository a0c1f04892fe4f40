"""Bartels' rank von Neumann ratio: whether neighbours differ as much as any two values do."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.permutation import law_of, permutation_p
from crosswind.stats.series import is_constant, series_of
from crosswind.stats.tested import CONSTANT, Tested


def bartels(values: ArrayLike) -> Tested:
    """Test independence by the squared rank differences of neighbours, two-sided, by permutation.

    The ratio is near 2 for independent values, small where neighbours are alike, large where they alternate.

    Args:
        values: shape (n,), n >= 4, any unit, in the order of the trials; ties share the mean of their ranks.
    Returns: the ratio; p is twice the smaller tail.
    Source: Bartels 1982.
    """
    series = series_of(values, 4)
    if is_constant(series):
        return CONSTANT
    alike, alternating = bartels_tails(series)
    statistic = float(bartels_rows(_ranks(series)[np.newaxis, :])[0])
    return Tested(statistic, min(1.0, 2 * min(alike, alternating)), law_of(series.size))


def bartels_tails(values: ArrayLike) -> tuple[float, float]:
    """Return how often a ratio is at most, and how often at least, that of `values`."""
    ranks = _ranks(series_of(values, 4))
    return permutation_p(lambda rows: -bartels_rows(rows), ranks), permutation_p(bartels_rows, ranks)


def _ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy import stats

    ranks: NDArray[np.float64] = stats.rankdata(series)
    return ranks


def bartels_rows(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ratio of each row."""
    middle = (ranks.shape[1] + 1) / 2
    ratio: NDArray[np.float64] = (np.diff(ranks) ** 2).sum(axis=1) / ((ranks - middle) ** 2).sum(axis=1)
    return ratio
