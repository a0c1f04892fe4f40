"""The ratio of two groups of trials, with an exact interval.

The estimate is the Hodges-Lehmann shift of the logarithms: the median of all ratios b / a. The interval is
that of the shift (`hodges_lehmann`). No shape and no large number is assumed, only that the groups'
distributions differ by a factor. An interval at 95 % needs at least four trials a side.

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
    """Return the ratio of `group` to `base`.

    Args:
        base: one value per trial, > 0 and finite, any unit.
        group: the same of the other group, same unit.
        confidence: in (0, 1).
    Returns: a RatioInterval (no unit), or GroupsNeedTrials.
    Raises:
        NotPerTrial: one of the two is not one value per trial.
        Refused: a value is zero, negative or infinite, so there is no ratio; compare differences
            (`hodges_lehmann`) or ranks (`mann_whitney`). Or there are more pairs than fit into memory.
    """
    # With logarithms, swapping the groups inverts the median, even of an even number of ratios.
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
