"""Quantile regression: what explains a quantile of many values, with an interval over trials.

The coefficients minimise the sum of tilted distances, tau for what lies above and 1 - tau for what is below;
of a 0/1 column the coefficient is the difference between the quantiles of its two groups. The minimum is
found exactly, as a linear programme. Where several coefficients reach it (a median of an even number of
values) one of them is returned.

Values of one trial are not independent, so standard errors and intervals come from resampling whole trials
(clusters), never single rows.

Source: Koenker and Bassett, Econometrica 1978; cluster bootstrap as Hagemann, JASA 2017.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.values import Refused, finite_values

_ROWS_MAX = 200_000  # A linear programme of so many rows takes seconds, and the bootstrap solves hundreds.


@dataclass(frozen=True)
class QuantileRegression:
    """One coefficient for each column of the design, in the unit of y over that of the column."""

    tau: float
    coefficients: NDArray[np.float64]  # shape (k,)
    standard_errors: NDArray[np.float64]  # shape (k,); NaN without clusters
    low: NDArray[np.float64]  # shape (k,); percentile interval; NaN without clusters
    high: NDArray[np.float64]
    confidence: float
    clusters: int  # 0 without


def quantile_regression(
    y: ArrayLike,
    design: ArrayLike,
    tau: float,
    *,
    clusters: ArrayLike | None = None,
    seed: int = 1,
    resamples: int = 399,
    confidence: float = 0.95,
) -> QuantileRegression:
    """Return the coefficients that explain the `tau`-quantile of `y`.

    Args:
        y: shape (n,), finite, any unit.
        design: shape (n, k), finite, n >= k; a column of ones for the intercept.
        tau: in (0, 1).
        clusters: shape (n,), the trial of each row; None for no standard errors.
        seed: of the resampling.
        resamples: how often the clusters are drawn.
        confidence: of the percentile interval, in (0, 1).
    Raises: Refused: shapes that do not match, columns that follow from each other, fewer than six clusters,
        more than 200,000 rows, or a value that is not finite.
    """
    values, columns = finite_values(y, "y"), np.atleast_2d(np.asarray(design, dtype=np.float64))
    finite_values(columns, "design")
    if not 0 < tau < 1:
        raise Refused(f"tau: {tau} is not in (0, 1); write P99 as 0.99")
    if columns.shape[0] != values.size:
        raise Refused(f"design: of shape {columns.shape}, y of {values.size} values; give a row for each")
    if values.size > _ROWS_MAX:
        raise Refused(
            f"y: {values.size} values; with more than {_ROWS_MAX} reduce each trial to its quantiles first"
        )
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        raise Refused("design: a column follows from the others, so no coefficient is its own; leave it out")
    coefficients = _solve(values, columns, tau, np.ones(values.size))
    if clusters is None:
        unknown = np.full(columns.shape[1], np.nan)
        return QuantileRegression(tau, coefficients, unknown, unknown, unknown, confidence, 0)
    drawn = _of_resamples(values, columns, tau, np.asarray(clusters).ravel(), seed, resamples)
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail), axis=0)
    number = np.unique(np.asarray(clusters).ravel()).size
    return QuantileRegression(tau, coefficients, drawn.std(axis=0, ddof=1), low, high, confidence, number)


def _of_resamples(
    y: NDArray[np.float64],
    design: NDArray[np.float64],
    tau: float,
    clusters: NDArray[np.generic],
    seed: int,
    resamples: int,
) -> NDArray[np.float64]:
    """Return the coefficients of every resample, shape (resamples, k); one without answer is drawn anew."""
    names, cluster = np.unique(clusters, return_inverse=True)
    if cluster.size != y.size:
        raise Refused(f"clusters: {cluster.size} of them, y has {y.size} values; name the trial of every row")
    if names.size < 6:
        raise Refused(f"clusters: {names.size} of them; with fewer than 6 trials resampling says nothing")
    random = np.random.default_rng(seed)
    found: list[NDArray[np.float64]] = []
    for _ in range(10 * resamples):
        times = np.bincount(random.integers(names.size, size=names.size), minlength=names.size)
        weights = times[cluster].astype(np.float64)
        drawn = weights > 0
        # A resample may miss every trial of a group, whose coefficient it then does not know.
        if np.linalg.matrix_rank(design[drawn]) == design.shape[1]:
            found.append(_solve(y[drawn], design[drawn], tau, weights[drawn]))
        if len(found) == resamples:
            return np.array(found)
    raise Refused(
        "clusters: nearly every resample misses a whole group; make more trials of the smaller group"
    )


def _solve(
    y: NDArray[np.float64], design: NDArray[np.float64], tau: float, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the coefficients, which are the prices of the dual programme.

    It asks for the largest y'd with design' d = (1 - tau) design' w and 0 <= d <= w: one bounded variable a
    row and one equation a coefficient, which is solved faster than the programme of distances itself.
    """
    from scipy.optimize import linprog  # Slow to import.

    scale = max(float(np.abs(y).max()), np.finfo(float).tiny)  # The solver's tolerances are absolute.
    solution = linprog(
        -y / scale,
        A_eq=design.T,
        b_eq=(1 - tau) * (design.T @ weights),
        bounds=np.column_stack((np.zeros_like(weights), weights)),
        method="highs",
    )
    assert solution.status == 0, (
        solution.message
    )  # Always feasible and bounded: d = (1 - tau) w is a solution.
    return np.asarray(-solution.eqlin.marginals * scale)
