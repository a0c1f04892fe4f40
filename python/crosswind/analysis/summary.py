"""The summary of a results folder: all numbers of the table and of the report come from here.

Estimates are medians over *trials* of one number of each trial (its own P99, its own job time), with the
exact interval of the median, unless the guard finds that trials are not independent. Trials count if they are
done and not void; failed and void ones are listed separately.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from crosswind.analysis.causes import SlowOperations
from crosswind.analysis.faults import FaultAnswer, Outage
from crosswind.analysis.generator import Generator
from crosswind.analysis.histories import TrialHistory
from crosswind.analysis.measure import OVER_100_MS, Measure
from crosswind.analysis.plain import as_plain
from crosswind.analysis.stragglers import Straggler
from crosswind.curves import BucketHistory
from crosswind.results import Provenance
from crosswind.results.between_machines import TrialMachine
from crosswind.results.buckets import Credits
from crosswind.results.host import Host
from crosswind.results.measurement import CheckedHistory
from crosswind.results.ranges import Range
from crosswind.results.reading import StoredTrial
from crosswind.spec.resolved import PerceivedTime, Resolved
from crosswind.stats import (
    GroupsNeedTrials,
    Guard,
    Interval,
    NeedsTrials,
    PerTrial,
    RatioInterval,
    RefusedComparison,
    RefusedInterval,
)

Estimate = Interval | NeedsTrials | RefusedInterval
Ratio = RatioInterval | GroupsNeedTrials | RefusedComparison


@dataclass(frozen=True)
class TrialSummary:
    """One trial. An unknown number is None, never 0."""

    row: StoredTrial
    counted: bool  # done and not void: part of the estimates
    operations: int | None
    errors: int | None
    not_started: int | None  # operations of an open loop that were due and never sent
    latency_ns: dict[str, float]  # p50, p95, p99, p999 of its operations, from the intended start
    values: dict[str, float]  # of every measure that it has, by key, in the unit of the measure
    ranges: dict[str, Range]  # what those may have been without the machine's disturbances, where known
    slow: SlowOperations | None  # over 100 ms
    tail: SlowOperations | None  # the slowest hundredth of a shorter tail, from 30 ms on
    failed: SlowOperations  # of a trial with faults: those that failed
    generator: Generator | None  # where operations were recorded
    ledger_error_ns: dict[str, float]  # p50, p99, max
    host: Host
    interference_bps: float | None  # mean per source
    drops: dict[tuple[str, str], int]  # (place, reason) -> packets
    retransmissions: int | None
    credits: Credits  # the levels of credit buckets at its start and its end
    stragglers: list[Straggler]
    machines: list[TrialMachine]  # that carried the network together; none where one did
    faults: list[Outage]  # in the order in which they were due
    checked: CheckedHistory | None  # where clients wrote the history of their operations
    time: PerceivedTime | None  # where time in its nodes was slowed down
    logs: Path | None

    @property
    def slow_share(self) -> float | None:
        """Share of operations over 100 ms."""
        return None if self.slow is None else self.slow.share

    def value(self, key: str) -> float | None:
        """Return a measure, or the share of operations over 100 ms."""
        return self.slow_share if key == OVER_100_MS.key else self.values.get(key)


@dataclass(frozen=True)
class ConditionSummary:
    """One condition over its counted trials."""

    name: str
    summary: str
    trials: list[TrialSummary]  # all of them, in the order in which they ran
    buckets: list[BucketHistory]  # those that outlive trials
    guards: dict[str, Guard]  # of every measure, by key: whether its trials are independent
    estimates: dict[str, Estimate]  # of every measure, by key
    slow_share: Estimate
    ratios: dict[str, Ratio]  # to the baseline, by key; not for the baseline, nor where a value is <= 0
    p: dict[str, float]  # of each ratio with an interval, corrected for all comparisons of the report
    slow: SlowOperations  # over 100 ms
    tail: SlowOperations  # of trials whose tail is shorter
    failed: SlowOperations  # of trials with faults
    interference_bps: float | None  # median over trials
    drops: Counter[tuple[str, str]]  # added up over counted trials
    retransmissions: int
    faults: list[FaultAnswer]  # over its counted trials

    @property
    def counted(self) -> list[TrialSummary]:
        """The trials that the estimates are made from."""
        return [trial for trial in self.trials if trial.counted]

    @property
    def lost(self) -> int:
        """How many planned trials finally failed; they are in no number."""
        ended = {(trial.row.block, trial.row.position) for trial in self.counted}
        failed = {(t.row.block, t.row.position) for t in self.trials if t.row.status == "failed"}
        return len(failed - ended)

    def estimate(self, key: str) -> Estimate:
        """Return the estimate of a measure, or of the share of operations over 100 ms."""
        return self.slow_share if key == OVER_100_MS.key else self.estimates[key]

    def per_trial(self, key: str) -> PerTrial:
        """Return the values of a measure in the order of the counted trials that have one."""
        return per_trial(self.counted, key)

    def verdict(self, measure: Measure) -> Literal["better", "worse", ""]:
        """Return the verdict of the ratio to the baseline; empty where it is not significant."""
        shown = self.p.get(measure.key, 1.0) < 0.05
        return measure.verdict(self.ratios.get(measure.key)) if shown else ""

    def count(self, kind: str) -> int:
        """Return how many attempts have this status (`failed`) or fidelity (`faithful`)."""
        return sum(kind in (trial.row.fidelity, trial.row.status) for trial in self.trials)


@dataclass(frozen=True)
class Summary:
    """The summary of a run."""

    folder: Path
    name: str
    summary: str
    source: str
    application: str
    open_loop: bool
    measures: list[Measure]  # the columns, in order
    primary: Measure  # the measure of the answers
    baseline: str  # the condition to which ratios refer: the first of the experiment
    conditions: list[ConditionSummary]  # in the order of the experiment
    resolved: Resolved
    provenance: Provenance

    @property
    def trials(self) -> list[TrialSummary]:
        """All trials, in the order in which they ran."""
        trials = [trial for condition in self.conditions for trial in condition.trials]
        return sorted(trials, key=lambda trial: (trial.row.position, trial.row.attempt))

    @property
    def base(self) -> ConditionSummary:
        """The condition to which ratios refer."""
        return next(condition for condition in self.conditions if condition.name == self.baseline)

    def count(self, kind: str) -> int:
        """Return how many attempts have this status (`failed`) or fidelity (`faithful`)."""
        return sum(condition.count(kind) for condition in self.conditions)

    @property
    def counts(self) -> Literal["trial", "attempt"]:
        """What `count` counts: attempts, where a failed or void trial was made again."""
        ended = Counter(
            (trial.row.block, trial.row.position)
            for trial in self.trials
            if trial.row.status in ("done", "failed")
        )
        return "attempt" if any(many > 1 for many in ended.values()) else "trial"

    @property
    def histories(self) -> list[TrialHistory]:
        """The verdicts on the histories of all trials that have one."""
        return [
            TrialHistory(trial.row.trial, trial.row.condition, trial.checked)
            for trial in self.trials
            if trial.checked is not None
        ]

    @property
    def ratio_after(self) -> Measure | None:
        """The column after which the ratio of the primary measure is shown: quantiles stay together.

        None where there is only one condition.
        """
        if len(self.conditions) < 2:
            return None
        if not self.primary.of_operations:
            return self.primary
        return [measure for measure in self.measures if measure.of_operations][-1]

    @property
    def has_operations(self) -> bool:
        """Whether single operations were recorded, and not only numbers of whole trials."""
        return any(trial.slow is not None for trial in self.trials)

    @property
    def ranged(self) -> list[Measure]:
        """The figures of which ranges can be known: all in the table."""
        return [*self.measures, OVER_100_MS] if self.has_operations else self.measures

    @property
    def slow(self) -> SlowOperations:
        """The slow operations of all counted trials."""
        return SlowOperations.together(condition.slow for condition in self.conditions)

    @property
    def tail(self) -> SlowOperations:
        """The slowest operations of trials whose tail is shorter than 100 ms."""
        return SlowOperations.together(condition.tail for condition in self.conditions)

    def as_json(self) -> dict[str, JsonValue]:
        """Return the summary as plain data for `json.dumps`; infinities become null."""
        return {name: value for name, value in as_plain(self).items() if name != "folder"}


def per_trial(trials: Iterable[TrialSummary], key: str) -> PerTrial:
    """Return the values of a measure in the order of the trials that have one."""
    values = {trial.row.trial: trial.value(key) for trial in trials}
    return PerTrial.of({trial: known for trial, known in values.items() if known is not None})
