"""CUSUM: test whether the level of a series changed once, and where."""

import numpy as np
from numpy.typing import NDArray


def cusum_curves(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sqrt(n / (k (n - k))) |z(1) + ... + z(k)| for k = 1..n-1 of each row.

    The largest is the statistic, and its k is the number of values before the likeliest change. It finds a
    doubling at n = 10, where Pettitt's asymptotic p has no power. At n = 7 it cannot distinguish a trend from
    a step.

    Args:
        rows: shape (series, n), finite; the sum of each row is 0.
    Returns: shape (series, n - 1).
    Source: the CUSUM of Page 1954, studentised; permutation after Antoch and Huskova 2001.
    """
    n = rows.shape[1]
    first = np.arange(1, n)
    curve: NDArray[np.float64] = np.abs(rows.cumsum(axis=1)[:, :-1]) * np.sqrt(n / (first * (n - first)))
    return curve
