"""Permutation CUSUM: whether the level changed once, and where."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.normal_scores import normal_scores
from crosswind.stats.permutation import law_of, permutation_p
from crosswind.stats.series import is_constant, series_of


@dataclass(frozen=True)
class Shift:
    """The most likely place of one change, and how often chance shows one as clear."""

    statistic: float
    p: float
    at: int  # index of the first value after the change, in [1, n - 1]
    law: str


def permutation_cusum(values: ArrayLike) -> Shift:
    """Test independence against one change of level, on normal scores, by permutation.

    The statistic is the largest over k of sqrt(n / (k (n - k))) |z(1) + ... + z(k)|. It finds a doubling at
    n = 10, where Pettitt's asymptotic p has no power at all. A trend is not told from a step at n = 7.

    Args:
        values: shape (n,), n >= 4, any unit, in the order of the trials; +inf is allowed.
    Returns: the change with p; a constant series has statistic 0, p 1 and no meaning in `at`.
    Source: the CUSUM of Page 1954, studentised; permutation after Antoch and Huskova 2001.
    """
    series = series_of(values, 4)
    if is_constant(series):
        return Shift(0.0, 1.0, 1, "constant")
    scores = normal_scores(series)
    curve = cusum_curves(scores[np.newaxis, :])[0]
    p = permutation_p(lambda rows: cusum_curves(rows).max(axis=1), scores)
    return Shift(float(curve.max()), p, int(np.argmax(curve)) + 1, law_of(series.size))


def cusum_curves(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the statistic of a change behind each value but the last; `rows` add up to 0."""
    n = rows.shape[1]
    first = np.arange(1, n)
    curve: NDArray[np.float64] = np.abs(rows.cumsum(axis=1)[:, :-1]) * np.sqrt(n / (first * (n - first)))
    return curve
