"""How many more trials would show a difference that is not shown yet.

The width of an interval falls with the square root of the trials. If the estimate stayed where it is, the
interval would leave 1 behind once its half towards 1 is as short as the estimate's distance from 1. That is a
forecast and no promise: an estimate moves, and one that lies at 1 is never shown to differ.
"""

from __future__ import annotations

import math

from crosswind.stats.between import GroupsNeedTrials, RatioInterval

TRIALS_MAX = 1000  # Beyond, a difference is too small for anybody to wait for.


def more_trials_to_decide(
    ratio: RatioInterval | GroupsNeedTrials, trials: int, against: float = 1.0
) -> int | None:
    """Return how many trials to add on each side until `against` lies outside the interval.

    Args:
        ratio: of two groups of trials.
        trials: of the smaller group, so far.
        against: above 0; the ratio that is to be excluded: 1 for no difference, 1.05 for 5 % more.
    Returns: 0 where it lies outside already; None where it would take more than a thousand in all.
    """
    if isinstance(ratio, GroupsNeedTrials):
        return max(1, ratio.needed - trials)
    if not ratio.low <= against <= ratio.high:
        return 0
    distance = abs(math.log(ratio.estimate / against))
    bound = ratio.low if ratio.estimate > against else ratio.high
    half = abs(math.log(ratio.estimate / bound))
    if distance == 0 or half / distance > math.sqrt(TRIALS_MAX / trials):
        return None
    # The tolerance keeps a whole number from being rounded up by the last bit of the logarithms.
    return max(1, math.ceil(trials * (half / distance) ** 2 - 1e-9) - trials)
