"""The Hodges-Lehmann difference between two groups of trials, with an exact interval.

The estimate is the median of all differences between a value of one group and a value of the other. Its
interval is from the r-th smallest to the r-th largest of them; r is from the exact distribution of the
Mann-Whitney count. No shape and no large number is assumed, only that the groups' distributions differ by a
shift. For durations, a factor is more likely than a shift: take `ratio_interval`, which is the same on
logarithms. An interval at 95 % needs at least four trials a side.

Source: Hodges and Lehmann 1963; Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3.
"""

from __future__ import annotations

import numpy as np

from crosswind.stats.between import GroupsNeedTrials, ShiftInterval
from crosswind.stats.mann_whitney import rank_of_bounds, trials_a_side
from crosswind.stats.quantile import quantile
from crosswind.stats.trials import PerTrial, require_per_trial
from crosswind.stats.values import Refused, finite_values

_PAIRS_MAX = 25_000_000  # differences, 200 MB of them


def hodges_lehmann(
    base: PerTrial, group: PerTrial, confidence: float = 0.95
) -> ShiftInterval | GroupsNeedTrials:
    """Return the difference between `group` and `base`, above 0 where `group` is larger.

    Args:
        base: one value per trial, finite, any unit.
        group: the same of the other group, same unit.
        confidence: in (0, 1).
    Returns: a ShiftInterval in the unit of the values, or GroupsNeedTrials.
    Raises:
        NotPerTrial: one of the two is not one value per trial.
        Refused: a value is infinite, which has no difference (`mann_whitney` compares ranks), or there are
            more than 25 million pairs.
    """
    sides = [require_per_trial(side).values for side in (base, group)]
    a, b = (
        finite_values(side, f"{name} trials", at_least=0)
        for side, name in zip(sides, ("base", "group"), strict=True)
    )
    if a.size * b.size > _PAIRS_MAX:
        raise Refused(
            f"{a.size} and {b.size} trials: {a.size * b.size} pairs, and at most {_PAIRS_MAX} fit into memory"
        )
    differences = np.sort(np.subtract.outer(b, a).ravel())
    estimate = quantile(differences, 0.5) if differences.size else None
    rank, tail, exact = rank_of_bounds(a.size, b.size, (1 - confidence) / 2)
    if rank == 0 or estimate is None:
        return GroupsNeedTrials("difference", confidence, estimate, trials_a_side(confidence))
    low, high = float(differences[rank - 1]), float(differences[-rank])
    return ShiftInterval(confidence, estimate, low, high, rank, 1 - 2 * tail, exact)
