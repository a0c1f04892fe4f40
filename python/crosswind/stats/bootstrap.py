"""Ratio of any statistic of two groups of trials, with a bootstrap interval: bias-corrected, accelerated.

For a median or a shift `ratio_interval` is exact and assumes less; this is for ratios of what has no exact
interval, such as P90s over trials. With eight trials a side or fewer, quantiles of resamples take few
different values (22 for medians of five), and the interval is as coarse: prefer `ratio_interval` there.

Source: Efron, JASA 1987; acceleration of several samples after DiCiccio and Efron, Statistical Science 1996.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.trials import PerTrial, require_per_trial
from crosswind.stats.values import Refused, finite_values

_TRIALS_MAX = 10_000  # a side; a resample of each is drawn ten thousand times
_CELLS = 2_000_000  # values of resamples that are in memory at once

Statistic = Callable[..., NDArray[np.float64]]


@dataclass(frozen=True)
class BootstrapRatio:
    """The statistic of one group over that of the other, and its approximate interval."""

    confidence: float
    estimate: float
    low: float
    high: float
    resamples: int


def bootstrap_ratio(
    base: PerTrial,
    group: PerTrial,
    *,
    seed: int,
    statistic: Statistic = np.median,
    confidence: float = 0.95,
    resamples: int = 9999,
) -> BootstrapRatio:
    """Return how many times larger the `statistic` of `group` is than that of `base`.

    Args:
        base: two or more trials, one value each, above 0 and finite, any unit.
        group: the same of the other group, same unit.
        seed: of the resamples.
        statistic: such as `np.median`; takes an array and `axis`.
        confidence: in (0, 1); approximate.
        resamples: how many are drawn, of each group.
    Raises:
        NotPerTrial: one of the two is not one value per trial.
        Refused: fewer than two trials, more than 10,000, or a value that is not above 0 and finite: a ratio
            to a denominator near 0 says nothing.
    """
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    below, above = (_positive(side, name) for side, name in ((base, "base"), (group, "group")))

    def ratio(above: NDArray[np.float64], below: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return statistic(above, axis=axis) / statistic(below, axis=axis)

    estimate = float(ratio(above, below))
    if np.ptp(below) == 0 and np.ptp(above) == 0:
        return BootstrapRatio(confidence, estimate, estimate, estimate, 0)  # Every resample is the same.
    found = stats.bootstrap(
        (above, below),
        ratio,
        vectorized=True,
        confidence_level=confidence,
        n_resamples=resamples,
        batch=max(1, _CELLS // (above.size + below.size)),
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return BootstrapRatio(confidence, estimate, float(found.low), float(found.high), resamples)


def _positive(side: PerTrial, name: str) -> NDArray[np.float64]:
    array = finite_values(require_per_trial(side).values, f"{name} trials", at_least=2)
    if array.size > _TRIALS_MAX:
        raise Refused(
            f"{name} trials: {array.size} of them; above {_TRIALS_MAX} take ratio_interval, which counts"
        )
    if array.min() <= 0:
        raise Refused(f"{name} trials: {array.min():g} has no ratio; compare differences with hodges_lehmann")
    return array
