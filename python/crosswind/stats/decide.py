"""Forecast the number of trials that would show a difference.

The width of an interval falls with the square root of the number of trials. With the same estimate, the
interval excludes 1 once its half towards 1 is shorter than the estimate's distance from 1. This is only a
forecast: the estimate will move, and no number of trials shows a difference at exactly 1.
"""

from __future__ import annotations

import math

from crosswind.stats.between import GroupsNeedTrials, RatioInterval

TRIALS_MAX = 1000  # A smaller difference would take too long to measure.


def more_trials_to_decide(
    ratio: RatioInterval | GroupsNeedTrials, trials: int, against: float = 1.0
) -> int | None:
    """Return how many trials to add to each group until the interval excludes `against`.

    Args:
        ratio: of two groups of trials.
        trials: number in the smaller group so far.
        against: above 0; the ratio to exclude: 1 for no difference, 1.05 for 5 % more.
    Returns: 0 if it is excluded already; None if it would take more than a thousand trials in all.
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
