"""For which figures a trial is faithful, although the machine disturbed it; which intervals that widens.

A figure is not moved if its range is at most SHARE as wide as its own interval: that over the trials of its
condition. Too few trials have none; then it is from the least to the greatest of their values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crosswind.analysis.measure import Measure
from crosswind.analysis.summary import ConditionSummary, TrialSummary
from crosswind.results.ranges import Range
from crosswind.stats import Interval, PerTrial, quantile_interval

SHARE = 0.01
# What more than this share of an interval's width is added to it, is worth a warning.
WIDENED = 0.1


def faithful_for(
    condition: ConditionSummary, trial: TrialSummary, measures: Sequence[Measure]
) -> list[Measure]:
    """Return the figures that the machine cannot have moved; none of an uncounted trial."""
    if not trial.counted:
        return []
    return [measure for measure in measures if not moved(condition, trial, measure)]


def moved(condition: ConditionSummary, trial: TrialSummary, measure: Measure) -> bool:
    """Return whether the machine can have moved a figure; a figure without a range is as its trial."""
    found = trial.ranges.get(measure.key)
    if found is None:
        return trial.row.fidelity != "faithful"
    own = _own(condition, measure.key, lambda trial: trial.value(measure.key))
    return own is None or found.high - found.low > SHARE * (own.high - own.low)


def widened(condition: ConditionSummary, measure: Measure) -> Range | None:
    """Return the interval with the ranges of its trials, where they widen it noticeably."""
    key = measure.key
    if not isinstance(own := condition.estimate(key), Interval):
        return None

    def end(trial: TrialSummary, low: bool) -> float | None:
        found = trial.ranges.get(key)
        if found is None:
            return trial.value(key)
        return found.low if low else found.high

    low = _own(condition, key, lambda trial: end(trial, low=True))
    high = _own(condition, key, lambda trial: end(trial, low=False))
    if low is None or high is None:
        return None
    grown = (own.low - low.low) + (high.high - own.high)
    return Range(low.low, high.high) if grown > WIDENED * (own.high - own.low) else None


def _own(
    condition: ConditionSummary, key: str, value: Callable[[TrialSummary], float | None]
) -> Range | None:
    """Return the interval of values over the trials of a condition, whether or not they are independent."""
    found = {trial.row.trial: value(trial) for trial in condition.counted}
    values = PerTrial.of({trial: known for trial, known in found.items() if known is not None})
    if not values:
        return None
    interval = quantile_interval(values, 0.5)
    if isinstance(interval, Interval):
        return Range(interval.low, interval.high)
    return Range(min(values.values), max(values.values))
