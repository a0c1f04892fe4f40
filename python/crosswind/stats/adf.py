"""Augmented Dickey-Fuller: whether a series wanders like a random walk."""

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.series import is_constant, series_of
from crosswind.stats.tested import CONSTANT, Tested
from crosswind.stats.values import Refused

# Below this many values the test is not a reason to refuse anything: at n = 10 and 20 it fails to reject a
# random walk for every second series of independent values, at n = 50 for 7 %.
ADF_TRIALS_MIN = 50


def augmented_dickey_fuller(values: ArrayLike, lags: int = 1) -> Tested:
    """Test the hypothesis of a unit root; a small p says that the series returns to its level.

    The statistic is the t value of gamma in dy = a + gamma y(-1) + sum of b(i) dy(-i), by least squares. Note
    the direction: here *not* rejecting is the bad sign, and with few trials it is no sign at all
    (`ADF_TRIALS_MIN`). That is why the guard does not ask it.

    Args:
        values: shape (n,), n >= 2 lags + 4, finite, any unit; in the order of the trials.
        lags: at least 0, of the differences.
    Returns: p after MacKinnon's asymptotic surface, too small or too large by a little at small n.
    Source: Said and Dickey 1984; MacKinnon 1994, "Approximate asymptotic distribution functions", tables 1-2.
    """
    from scipy import stats

    series = series_of(values, 2 * lags + 4, finite=True)
    if is_constant(series):
        return CONSTANT
    steps = np.diff(series)
    rows = steps.size - lags
    columns = [np.ones(rows), series[lags:-1], *(steps[lags - i : -i] for i in range(1, lags + 1))]
    design, wanted = np.column_stack(columns), steps[lags:]
    coefficients, _, rank, _ = np.linalg.lstsq(design, wanted, rcond=None)
    left = wanted - design @ coefficients
    degrees = rows - design.shape[1]
    if rank < design.shape[1] or degrees < 1 or not np.any(np.abs(left) > 1e-12 * np.abs(wanted).max()):
        raise Refused("values: a series that repeats itself exactly has no error to compare with")
    variance = (left @ left) / degrees * np.linalg.inv(design.T @ design)[1, 1]
    t = float(coefficients[1] / np.sqrt(variance))
    return Tested(t, float(stats.norm.cdf(_normal_of(t))), "asymptotic")


def _normal_of(t: float) -> float:
    """Return the normal quantile with the probability of `t` under a unit root, constant and no trend."""
    if t > 2.74:
        return np.inf
    if t < -18.83:
        return -np.inf
    if t <= -1.61:
        return 2.1659 + 1.4412 * t + 0.038269 * t**2
    return 1.7339 + 0.93202 * t - 0.12745 * t**2 - 0.010368 * t**3
