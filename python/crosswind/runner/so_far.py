"""What is known after a trial: the first figure of every condition, with its interval as in the report."""

from collections.abc import Collection
from pathlib import Path

from crosswind.plan import Trial
from crosswind.results import Journal
from crosswind.runner.growth import OPERATIONS, histories, looks, values_of
from crosswind.spec import Resolved
from crosswind.stats import (
    Interval,
    NeedsTrials,
    PerTrial,
    RefusedInterval,
    StoppingLook,
    guard_together,
    guarded_interval,
)
from crosswind.stream import ConditionSoFar, SoFar

CONFIDENCE = 0.95


def so_far(resolved: Resolved, journal: Journal, folder: Path, waiting: Collection[Trial]) -> SoFar:
    """Return what the trials in `journal` say.

    Args:
        folder: the results folder, with the content of buckets that outlive trials.
        waiting: planned trials that still have to run.
    """
    figures = resolved.application.figures
    first, names = figures[0], [condition.name for condition in resolved.conditions]
    values = values_of(journal, first)
    trials = {
        name: PerTrial.of({t: v for t, v in values.get(name, {}).items() if v is not None}) for name in names
    }
    # In a report with other figures, the first one has half of the share of false refusals.
    share = 0.5 if len(figures) > 1 or first.metric in OPERATIONS else 1.0
    seen = guard_together(trials, histories(resolved, journal, folder), share)
    intervals = {name: guarded_interval(trials[name], 0.5, seen[name], CONFIDENCE) for name in names}
    found = looks(resolved, journal, folder)
    blocks = {row.block for row in journal.planned()}
    return SoFar(
        figure=first.label,
        unit=first.unit,
        better=first.better,
        confidence=CONFIDENCE,
        blocks=len(blocks - {trial.block for trial in waiting}),
        blocks_planned=len(blocks),
        conditions=tuple(
            ConditionSoFar(
                condition=name,
                trials=len(trials[name]),
                value=interval.estimate,
                low=interval.low if isinstance(interval, Interval) else None,
                high=interval.high if isinstance(interval, Interval) else None,
                needed=_needed(interval, found.get(name)),
                settled=found[name].stop if found else all(trial.condition != name for trial in waiting),
            )
            for name, interval in intervals.items()
        ),
    )


def _needed(interval: Interval | NeedsTrials | RefusedInterval, look: StoppingLook | None) -> int | None:
    """Return how many more trials an interval needs or, where there is one, the stopping rule expects."""
    if isinstance(interval, RefusedInterval):
        return None
    if isinstance(interval, NeedsTrials):
        return interval.more
    if look is None or look.stop:
        return 0
    return None if look.forecast is None else max(0, look.forecast - look.n)
