"""How many times larger one group of trials is than another, with an exact interval.

The estimate is the Hodges-Lehmann shift of the logarithms: the median of all ratios b / a. So is its interval
(`hodges_lehmann`): it assumes neither a shape nor large numbers, only that one group's law is the other's
multiplied by a factor. Four trials a side are the fewest for 95 % when the sides are equal.

Source: Hodges and Lehmann 1963; Hollander and Wolfe, Nonparametric Statistical Methods, section 4.3.
"""

import math

from crosswind.stats.between import GroupsNeedTrials, RatioInterval
from crosswind.stats.hodges_lehmann import hodges_lehmann
from crosswind.stats.trials import PerTrial, require_per_trial
from crosswind.stats.values import Refused


def ratio_interval(
    base: PerTrial, group: PerTrial, confidence: float = 0.95
) -> RatioInterval | GroupsNeedTrials:
    """Return how many times larger `group` is than `base`.

    Args:
        base: one value per trial, > 0 and finite, any unit.
        group: the same of the other group, same unit.
        confidence: in (0, 1).
    Returns: a RatioInterval (no unit), or GroupsNeedTrials.
    Raises:
        NotPerTrial: one of the two is not one value per trial.
        Refused: a value is zero, negative or infinite; a ratio to it says nothing, compare differences
            (`hodges_lehmann`) or ranks (`mann_whitney`). Or there are more pairs than fit into memory.
    """
    # Logarithms make the median of an even number of ratios symmetric: swapping the groups inverts it.
    shift = hodges_lehmann(_logarithms(base), _logarithms(group), confidence)
    estimate = None if shift.estimate is None else math.exp(shift.estimate)
    if isinstance(shift, GroupsNeedTrials):
        return GroupsNeedTrials("ratio", confidence, estimate, shift.needed)
    return RatioInterval(
        confidence,
        math.exp(shift.estimate),
        math.exp(shift.low),
        math.exp(shift.high),
        shift.rank,
        shift.coverage,
        shift.exact,
    )


def _logarithms(side: PerTrial) -> PerTrial:
    side = require_per_trial(side)
    for trial, value in zip(side.trials, side.values, strict=True):
        if not 0 < value < math.inf:
            raise Refused(f"trial {trial}: {value} has no ratio; it must be positive and finite")
    return PerTrial(side.trials, tuple(math.log(value) for value in side.values))
