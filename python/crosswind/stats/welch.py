"""Welch's analysis of variance: whether several groups have one mean, though not one variance.

It takes the place of the classical one, which calls groups different too often where the smaller of them
vary more. Means are moved by single extreme trials: `kruskal_wallis` asks by ranks.

Source: Welch, Biometrika 1951.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crosswind.stats.trials import PerTrial, require_per_trial
from crosswind.stats.values import Refused, finite_values


@dataclass(frozen=True)
class Welch:
    """The test of k groups; of two, f is the square of Welch's t."""

    f: float
    between: int  # degrees of freedom, k - 1
    within: float  # degrees of freedom, usually a fraction
    p: float


def welch(groups: Sequence[PerTrial]) -> Welch:
    """Test whether several groups have one mean.

    Args:
        groups: two or more, each one finite value per trial and two trials or more, one unit for all.
    Raises:
        NotPerTrial: one of them is not one value per trial.
        Refused: fewer than two groups, fewer than two trials in one, a value that is not finite, or a group
            of one value only, which has no variance to weigh it by.
    """
    from scipy.special import fdtrc  # Slow to import, and not needed by a `crosswind --help`.

    arrays = [
        finite_values(require_per_trial(group).values, f"trials of group {number}", at_least=2)
        for number, group in enumerate(groups, start=1)
    ]
    k = len(arrays)
    if k < 2:
        raise Refused(f"{k} groups: a comparison needs two or more")
    n = np.array([array.size for array in arrays], dtype=np.float64)
    mean = np.array([array.mean() for array in arrays])
    variance = np.array([array.var(ddof=1) for array in arrays])
    if variance.min() == 0:
        constant = int(variance.argmin()) + 1
        raise Refused(
            f"trials of group {constant}: all alike, so nothing says how sure their mean is; use ranks"
        )
    weight = n / variance
    centre = float(weight @ mean / weight.sum())
    unequal = float(np.sum((1 - weight / weight.sum()) ** 2 / (n - 1)))
    f = float(weight @ (mean - centre) ** 2) / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * unequal)
    within = (k**2 - 1) / (3 * unequal)
    return Welch(f, k - 1, within, float(fdtrc(k - 1, within, f)))
