"""For which figures a trial is faithful, although the machine disturbed it; what that does to comparisons.

A figure is not moved if its range is at most SHARE as wide as its own interval: that over the trials of its
condition. Too few trials have none; then a figure is not moved only if its range has no width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from crosswind.analysis.measure import Measure
from crosswind.analysis.summary import ConditionSummary, TrialSummary
from crosswind.results.ranges import Range
from crosswind.stats import Interval, PerTrial, RatioInterval, quantile_interval

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
    width = found.high - found.low
    own = _own(condition, measure.key, lambda trial: trial.value(measure.key))
    return width > (0 if own is None else SHARE * (own.high - own.low))


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


def of_median(condition: ConditionSummary, key: str) -> Range | None:
    """Return what the median over trials may have been without the machine: the medians of both ends.

    It says nothing about chance between trials; that is the interval's. None where no trial counts.
    """
    ends = [
        (found.low, found.high) if (found := trial.ranges.get(key)) else (value, value)
        for trial in condition.counted
        if (value := trial.value(key)) is not None
    ]
    return Range(*map(median, zip(*ends, strict=True))) if ends else None


def meet(one: Range, other: Range) -> bool:
    """Return whether the machine alone may have made the difference between two figures."""
    if one.low == one.high and other.low == other.high:
        return False
    return one.low <= other.high and other.low <= one.high


def ranges_meet(condition: ConditionSummary, baseline: ConditionSummary, key: str) -> bool:
    """Return whether a ratio without an interval may be the machine's alone."""
    one, other = of_median(condition, key), of_median(baseline, key)
    unsure = not isinstance(condition.ratios.get(key), RatioInterval)
    return unsure and one is not None and other is not None and meet(one, other)


def _own(
    condition: ConditionSummary, key: str, value: Callable[[TrialSummary], float | None]
) -> Range | None:
    """Return the interval of values over the trials of a condition, whether or not they are independent.

    None where trials are too few. Their least and greatest value are no substitute: two trials that the
    machine moved far apart would make both of them faithful.
    """
    found = {trial.row.trial: value(trial) for trial in condition.counted}
    values = PerTrial.of({trial: known for trial, known in found.items() if known is not None})
    if not values:
        return None
    interval = quantile_interval(values, 0.5)
    return Range(interval.low, interval.high) if isinstance(interval, Interval) else None
