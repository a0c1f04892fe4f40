"""KPSS: whether a series keeps its level."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.permutation import law_of, permutation_p
from crosswind.stats.series import is_constant, series_of
from crosswind.stats.tested import CONSTANT, Tested
from crosswind.stats.values import Refused

# p at these statistics; beyond them only "more than 0.1" and "less than 0.01" is known.
_TABLE_STATISTIC = (0.347, 0.463, 0.574, 0.739)
_TABLE_P = (0.1, 0.05, 0.025, 0.01)


def kpss(values: ArrayLike, lags: int | None = None) -> Tested:
    """Test the hypothesis that the level is stationary, whatever the dependence between neighbours.

    Args:
        values: shape (n,), n >= 4, finite, any unit; in the order of the trials.
        lags: of the long-run variance (Bartlett weights), in [0, n - 2]; when absent 4 (n/100)^(1/4), rounded
            down.
    Returns: p from the asymptotic table, in [0.01, 0.1].
    Source: Kwiatkowski, Phillips, Schmidt and Shin 1992, table 1.
    """
    series = series_of(values, 4, finite=True)
    if is_constant(series):
        return CONSTANT
    statistic = float(_statistic(series[np.newaxis, :], _lags(series.size, lags))[0])
    return Tested(statistic, float(np.interp(statistic, _TABLE_STATISTIC, _TABLE_P)), "table")


def kpss_permutation(values: ArrayLike, lags: int | None = None) -> Tested:
    """Test with the statistic of `kpss` that the values are independent, by permutation; exact at any n."""
    series = series_of(values, 4, finite=True)
    if is_constant(series):
        return CONSTANT
    used = _lags(series.size, lags)
    statistic = float(_statistic(series[np.newaxis, :], used)[0])
    return Tested(statistic, permutation_p(lambda rows: _statistic(rows, used), series), law_of(series.size))


def _lags(n: int, lags: int | None) -> int:
    used = int(4 * (n / 100) ** 0.25) if lags is None else lags
    if not 0 <= used <= n - 2:
        raise Refused(f"lags: {used} is not in [0, {n - 2}] for {n} values")
    return used


def _statistic(rows: NDArray[np.float64], lags: int) -> NDArray[np.float64]:
    """Return sum of S_t^2 / (n^2 long-run variance) of each row, S_t the sums of deviations from the mean."""
    n = rows.shape[1]
    deviations = rows - rows.mean(axis=1, keepdims=True)
    variance = (deviations**2).sum(axis=1)
    for lag in range(1, lags + 1):
        weight = 2 * (1 - lag / (lags + 1))
        variance = variance + weight * (deviations[:, lag:] * deviations[:, :-lag]).sum(axis=1)
    sums = (deviations.cumsum(axis=1) ** 2).sum(axis=1)
    # Bartlett weights keep the variance above 0, but for rounding.
    statistic: NDArray[np.float64] = sums / (n * np.maximum(variance, np.finfo(float).tiny))
    return statistic
