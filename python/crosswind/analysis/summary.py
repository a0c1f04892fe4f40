"""Summarise a results folder: all numbers of the table and of the report come from here.

Estimates are medians over *trials* of one number of each trial (its own P99, its own job time), with the
exact interval of the median, unless the guard finds that trials are not independent. Trials count if they are
done and not void; failed and void ones are listed separately.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import JsonValue

from crosswind.analysis.causes import SlowOperations, failed_operations, slow_operations
from crosswind.analysis.faults import FaultAnswer, Outage, outages, over_trials
from crosswind.analysis.generator import Generator, generator
from crosswind.analysis.histories import TrialHistory
from crosswind.analysis.measure import OVER_100_MS, QUANTILES, Measure, measures_of, primary_of
from crosswind.analysis.plain import as_plain
from crosswind.analysis.stragglers import Straggler, stragglers_of
from crosswind.analysis.together import corrected, guards
from crosswind.curves import BucketHistory
from crosswind.results import Provenance
from crosswind.results.between_machines import TrialMachine, machines_of
from crosswind.results.buckets import Credits, bucket_histories, credits_of
from crosswind.results.documents import WITHOUT_IT, blaming
from crosswind.results.host import Host, host_of
from crosswind.results.measurement import CheckedHistory
from crosswind.results.ranges import Range
from crosswind.results.reading import Operations, Results, StoredTrial
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
    guarded_interval,
    guarded_ratio,
    quantile_interval,
    quantiles,
)

Metrics = list[tuple[str | None, str, str, float]]  # node, metric, statistic, value
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
        return _per_trial(self.counted, _of(key))

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


def summarise(folder: Path | Results) -> Summary:
    """Summarise the results in `folder`.

    Raises: NotAResultsFolder: the folder has no trials.parquet or one of another format.
    """
    results = folder if isinstance(folder, Results) else Results(folder)
    resolved = results.resolved
    described = {condition.name: condition.summary or "" for condition in resolved.conditions}
    rows: dict[str, list[StoredTrial]] = {name: [] for name in described}
    for row in results.trials:
        rows.setdefault(row.condition, []).append(row)
    rows = {name: members for name, members in rows.items() if members}
    figures = resolved.application.figures
    stored = {(metric, statistic) for found in results.metrics.values() for _, metric, statistic, _ in found}
    open_loop = any(metric == "response" for metric, _ in stored)
    measures = measures_of(figures, stored, open_loop=open_loop)
    trials = {name: [_trial(results, row, measures) for row in members] for name, members in rows.items()}
    baseline, primary = next(iter(trials), ""), primary_of(figures, open_loop=open_loop)
    summaries = {name: described.get(name, "") for name in trials}
    conditions = _conditions(trials, summaries, baseline, measures, primary, resolved)
    return Summary(
        folder=results.path,
        name=resolved.name or results.path.parent.name,
        summary=resolved.summary or "",
        source=resolved.source or "",
        application=resolved.application.name or _first(r.application for r in results.trials),
        open_loop=open_loop,
        measures=measures,
        primary=primary,
        baseline=baseline,
        conditions=conditions,
        resolved=resolved,
        provenance=results.provenance,
    )


def _trial(results: Results, row: StoredTrial, measures: Sequence[Measure]) -> TrialSummary:
    metrics = results.metrics.get(row.trial, [])
    operations = results.operations(row.trial)
    counted = row.status == "done" and row.fidelity != "void"
    drops: Counter[tuple[str, str]] = Counter()
    for node, metric, statistic, value in metrics:
        if metric == "drops":
            drops[(node or "", statistic)] += int(value)
    interference = [value for _, metric, _, value in metrics if metric == "interference.offered"]
    with blaming(results.path / "samples" / f"{row.trial}.parquet", WITHOUT_IT):
        latency_ns = _latency(operations, metrics)
    measurement = results.measurement(row.trial)
    before = results.provenance.before
    # Those of other machines are not what this one has.
    cores = None if before is None or before.machines else before.cores
    values = {measure.key: _value(measure, latency_ns, metrics) for measure in measures}
    with blaming(results.path / "monitors" / f"{row.trial}.json", WITHOUT_IT):
        slow, tail = (None, None) if operations is None else slow_operations(results, row.trial, operations)
        failed = SlowOperations() if operations is None else failed_operations(results, row.trial, operations)
        host, credits = host_of(measurement), {} if measurement is None else credits_of(measurement)
        generated = (
            None
            if operations is None or not operations.ok.size
            else generator(operations, measurement, cores)
        )
    return TrialSummary(
        row=row,
        counted=counted,
        operations=_total(metrics, "operations"),
        errors=_total(metrics, "errors"),
        not_started=None if measurement is None else measurement.load.not_started,
        latency_ns=latency_ns,
        values={key: value for key, value in values.items() if value is not None},
        ranges=_ranges(results, row.trial, measures),
        slow=slow,
        tail=tail,
        failed=failed,
        generator=generated,
        ledger_error_ns={s: value for _, metric, s, value in metrics if metric == "ledger.error"},
        host=host,
        interference_bps=sum(interference) / len(interference) if interference else None,
        drops=dict(drops),
        retransmissions=_total(metrics, "retransmissions"),
        credits=credits,
        stragglers=stragglers_of(results, row),
        machines=machines_of(measurement),
        faults=outages(results, row.trial),
        checked=None if measurement is None else measurement.load.checked,
        time=None if measurement is None else measurement.time,
        logs=results.logs(row.trial),
    )


def _value(measure: Measure, latency_ns: dict[str, float], metrics: Metrics) -> float | None:
    if measure.of_operations:
        return latency_ns.get(measure.statistic)
    return _sum(metrics, measure.metric, measure.statistic)


def _ranges(results: Results, trial: str, measures: Sequence[Measure]) -> dict[str, Range]:
    found = results.ranges.get(trial, {})
    named = {metric for metric, _ in found}
    users = "response" if "response" in named else "latency"
    ranges = {}
    for measure in (*measures, OVER_100_MS):
        metric = users if measure.of_operations else measure.metric
        if (known := found.get((metric, measure.statistic))) is not None:
            ranges[measure.key] = Range(*known)
    return ranges


def _latency(operations: Operations | None, metrics: Metrics) -> dict[str, float]:
    """Return the quantiles of a trial: from its samples, or as stored where samples were not recorded.

    Only successful operations have a latency; the others count as errors.
    """
    if operations is not None and operations.ok.any():
        latency = (operations.finished_ns - operations.intended_ns)[operations.ok]
        return dict(zip(QUANTILES, quantiles(latency, tuple(QUANTILES.values())), strict=True))
    named = {metric for _, metric, _, _ in metrics}
    wanted = "response" if "response" in named else "latency"
    return {s: value for _, metric, s, value in metrics if metric == wanted and s in QUANTILES}


def _conditions(
    trials: Mapping[str, list[TrialSummary]],
    summaries: Mapping[str, str],
    baseline: str,
    measures: Sequence[Measure],
    primary: Measure,
    resolved: Resolved,
) -> list[ConditionSummary]:
    """Return all conditions, judged together: significance depends on their number."""
    counted = {name: [trial for trial in members if trial.counted] for name, members in trials.items()}
    buckets = {
        name: bucket_histories(resolved, [trial.credits for trial in members])
        for name, members in counted.items()
    }
    series = {
        key: {name: _per_trial(members, value) for name, members in counted.items()}
        for key, value in _values_of(measures).items()
    }
    seen = guards(series, buckets, primary.key)
    ratios = {
        (measure.key, name): found
        for measure in measures
        for name in trials
        if name != baseline
        and (found := ratio(series[measure.key], seen[measure.key], baseline, name)) is not None
    }
    known = {
        (key, name): (series[key][name], series[key][baseline])
        for (key, name), ratio in ratios.items()
        if isinstance(ratio, RatioInterval)
    }
    p = corrected(known, primary.key)
    return [
        _condition(
            name,
            summaries[name],
            trials[name],
            buckets[name],
            {key: (series[key][name], seen[key][name]) for key in series},
            {key: ratio for (key, of), ratio in ratios.items() if of == name},
            {key: corrected_p for (key, of), corrected_p in p.items() if of == name},
        )
        for name in trials
    ]


def _values_of(measures: Sequence[Measure]) -> dict[str, Callable[[TrialSummary], float | None]]:
    """Return the judged values of a trial, by key."""
    return {measure.key: _of(measure.key) for measure in (*measures, OVER_100_MS)}


def _condition(
    name: str,
    summary: str,
    trials: list[TrialSummary],
    buckets: list[BucketHistory],
    judged: Mapping[str, tuple[PerTrial, Guard]],
    ratios: dict[str, Ratio],
    p: dict[str, float],
) -> ConditionSummary:
    counted = [trial for trial in trials if trial.counted]
    interference = PerTrial.of(
        {t.row.trial: t.interference_bps for t in counted if t.interference_bps is not None}
    )
    drops: Counter[tuple[str, str]] = Counter()
    for trial in counted:
        drops.update(trial.drops)
    # A trial without the number is left out of n, not counted as 0.
    estimates = {key: guarded_interval(values, 0.5, seen) for key, (values, seen) in judged.items()}
    slow_share = estimates.pop(OVER_100_MS.key)
    return ConditionSummary(
        name=name,
        summary=summary,
        trials=trials,
        buckets=buckets,
        guards={key: seen for key, (_, seen) in judged.items()},
        estimates=estimates,
        slow_share=slow_share,
        ratios=ratios,
        p=p,
        slow=SlowOperations.together(t.slow for t in counted if t.slow is not None),
        tail=SlowOperations.together(t.tail for t in counted if t.tail is not None),
        failed=SlowOperations.together(t.failed for t in counted),
        interference_bps=quantile_interval(interference, 0.5).estimate,
        drops=drops,
        retransmissions=sum(t.retransmissions or 0 for t in counted),
        faults=over_trials(t.faults for t in counted),
    )


def ratio(
    series: Mapping[str, PerTrial], seen: Mapping[str, Guard], baseline: str, name: str
) -> Ratio | None:
    """Return the ratio of a condition to the baseline; None where a value is missing, infinite or <= 0."""
    sides = series[baseline], series[name]
    if not all(sides) or not all(0 < number < math.inf for side in sides for number in side.values):
        return None
    return guarded_ratio(*sides, (seen[baseline], seen[name]))


def _of(key: str) -> Callable[[TrialSummary], float | None]:
    return lambda trial: trial.value(key)


def _per_trial(trials: list[TrialSummary], value: Callable[[TrialSummary], float | None]) -> PerTrial:
    values = {trial.row.trial: value(trial) for trial in trials}
    return PerTrial.of({trial: known for trial, known in values.items() if known is not None})


def _total(metrics: Metrics, wanted: str) -> int | None:
    total = _sum(metrics, wanted)
    return None if total is None else round(total)


def _sum(metrics: Metrics, wanted: str, statistic: str | None = None) -> float | None:
    """Return a metric added up over nodes; None if no node has it."""
    values = [value for _, metric, of, value in metrics if metric == wanted and statistic in (None, of)]
    return sum(values) if values else None


def _first(names: Iterable[str]) -> str:
    return next(iter(names), "")
