"""What is known after a trial: the first figure of every condition, with its interval as in the report."""

from collections.abc import Collection, Mapping
from pathlib import Path

from crosswind.plan import Trial
from crosswind.results import Journal
from crosswind.runner.growth import OPERATIONS, histories, looks, values_of
from crosswind.spec import Resolved
from crosswind.stats import (
    Guard,
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


class Known:
    """What the trials of a run say until now.

    Whether trials are independent, and what the stopping rule finds, is judged when a block is complete:
    these judgements compare thousands of orders, which takes a second for ten conditions.
    """

    def __init__(self, resolved: Resolved, journal: Journal, folder: Path) -> None:
        self._resolved = resolved
        self._journal = journal
        self._folder = folder  # with the content of buckets that outlive trials
        self._first = resolved.application.figures[0]
        self._blocks = -1  # complete at the last judgement
        self._guards: dict[str, Guard] = {}
        self._looks: dict[str, StoppingLook] = {}

    def so_far(self, waiting: Collection[Trial]) -> SoFar:
        """Return the first figure of every condition.

        Args:
            waiting: planned trials that still have to run.
        """
        values = values_of(self._journal, self._first)
        trials = {
            condition.name: PerTrial.of(
                {trial: v for trial, v in values.get(condition.name, {}).items() if v is not None}
            )
            for condition in self._resolved.conditions
        }
        planned = {row.block for row in self._journal.planned()}
        complete = planned - {trial.block for trial in waiting}
        if len(complete) != self._blocks:
            self._blocks = len(complete)
            self._judge(trials)
        open_conditions = {trial.condition for trial in waiting}
        return SoFar(
            figure=self._first.label,
            unit=self._first.unit,
            better=self._first.better,
            confidence=CONFIDENCE,
            blocks=len(complete),
            blocks_planned=len(planned),
            conditions=tuple(self._condition(name, trials[name], open_conditions) for name in trials),
        )

    def _judge(self, trials: Mapping[str, PerTrial]) -> None:
        figures = self._resolved.application.figures
        # In a report with other figures, the first one has half of the share of false refusals.
        share = 0.5 if len(figures) > 1 or self._first.metric in OPERATIONS else 1.0
        buckets = histories(self._resolved, self._journal, self._folder)
        self._guards = guard_together(trials, buckets, share)
        self._looks = looks(self._resolved, self._journal, self._folder)

    def _condition(self, name: str, trials: PerTrial, open_conditions: Collection[str]) -> ConditionSoFar:
        interval = guarded_interval(trials, 0.5, self._guards[name], CONFIDENCE)
        look = self._looks.get(name)
        return ConditionSoFar(
            condition=name,
            trials=len(trials),
            value=interval.estimate,
            low=interval.low if isinstance(interval, Interval) else None,
            high=interval.high if isinstance(interval, Interval) else None,
            needed=_needed(interval, look),
            settled=name not in open_conditions if look is None else look.stop,
        )


def _needed(interval: Interval | NeedsTrials | RefusedInterval, look: StoppingLook | None) -> int | None:
    """Return how many more trials an interval needs or, where there is one, the stopping rule expects."""
    if isinstance(interval, RefusedInterval):
        return None
    if isinstance(interval, NeedsTrials):
        return interval.more
    if look is None or look.stop:
        return 0
    return None if look.forecast is None else max(0, look.forecast - interval.n)
