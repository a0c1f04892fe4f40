"""Kruskal-Wallis: test by ranks whether several groups of trials have one distribution.

The statistic H has a chi-squared distribution only in large groups. If a group has fewer than five trials,
the trials are permuted instead: all permutations if they are few, random ones otherwise.

Source: Kruskal and Wallis 1952; epsilon squared = H / (N - 1), Tomczak and Tomczak 2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.trials import PerTrial, require_per_trial
from crosswind.stats.values import Refused

_LARGE = 5  # trials in every group for which chi-squared is good enough
_PERMUTATIONS = 9999
_SEED = 1  # of random permutations


@dataclass(frozen=True)
class KruskalWallis:
    """The test of k groups."""

    h: float
    p: float
    permuted: bool  # p is from permutations; else from chi-squared with k - 1 degrees of freedom
    epsilon_squared: float  # in [0, 1]; the share of the ranks' variance that the groups explain


def kruskal_wallis(groups: Sequence[PerTrial]) -> KruskalWallis:
    """Test whether any of several groups tends to be larger than another.

    Args:
        groups: two or more, each one value per trial, one unit for all; +inf for a trial that never ended.
    Raises:
        NotPerTrial: one of them is not one value per trial.
        Refused: fewer than two groups, or an empty one.
    """
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    arrays = [np.array(require_per_trial(group).values) for group in groups]
    sizes = [array.size for array in arrays]
    if len(arrays) < 2 or 0 in sizes:
        raise Refused(f"groups of {sizes} trials: give two or more groups with at least one trial each")
    ranks = stats.rankdata(
        np.concatenate(arrays)
    )  # Infinite values have ranks, and permuting ranks is faster.
    total = ranks.size
    if np.ptp(ranks) == 0:
        return KruskalWallis(0.0, 1.0, False, 0.0)  # All values are equal, so the groups do not differ.
    borders = np.cumsum(sizes)[:-1]
    parts = np.split(ranks, borders)
    tested = stats.kruskal(*parts)
    h, p = float(tested.statistic), float(tested.pvalue)

    def rises_with_h(*parts: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        # scipy does not permute a group of one trial; with such a group all ranks are permuted together.
        if len(parts) == 1:
            parts = tuple(np.split(parts[0], borders, axis=axis))
        return np.asarray(sum(part.sum(axis=axis) ** 2 / part.shape[axis] for part in parts))

    permuted = min(sizes) < _LARGE
    if permuted:
        test = stats.permutation_test(
            [ranks] if 1 in sizes else parts,
            rises_with_h,
            permutation_type="pairings" if 1 in sizes else "independent",
            vectorized=True,
            alternative="greater",
            n_resamples=_PERMUTATIONS,
            rng=np.random.default_rng(_SEED),
        )
        p = float(test.pvalue)
    return KruskalWallis(h, p, permuted, h / (total - 1))
