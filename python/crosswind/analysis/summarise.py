"""Make the summary of a results folder from what is stored in it."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from crosswind.analysis.causes import SlowOperations, failed_operations, slow_operations
from crosswind.analysis.faults import outages, over_trials
from crosswind.analysis.generator import generator
from crosswind.analysis.measure import OVER_100_MS, QUANTILES, Measure, measures_of, primary_of
from crosswind.analysis.stragglers import stragglers_of
from crosswind.analysis.summary import (
    ConditionSummary,
    Ratio,
    Summary,
    TrialSummary,
    per_trial,
)
from crosswind.analysis.together import corrected, guards
from crosswind.curves import BucketHistory
from crosswind.results.between_machines import machines_of
from crosswind.results.buckets import bucket_histories, credits_of
from crosswind.results.documents import WITHOUT_IT, blaming
from crosswind.results.host import host_of
from crosswind.results.ranges import Range
from crosswind.results.reading import Operations, Results, StoredTrial
from crosswind.spec.resolved import Resolved
from crosswind.stats import (
    Guard,
    PerTrial,
    RatioInterval,
    guarded_interval,
    guarded_ratio,
    quantile_interval,
    quantiles,
)

Metrics = list[tuple[str | None, str, str, float]]  # node, metric, statistic, value


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
        measure.key: {name: per_trial(members, measure.key) for name, members in counted.items()}
        for measure in (*measures, OVER_100_MS)
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


def _total(metrics: Metrics, wanted: str) -> int | None:
    total = _sum(metrics, wanted)
    return None if total is None else round(total)


def _sum(metrics: Metrics, wanted: str, statistic: str | None = None) -> float | None:
    """Return a metric added up over nodes; None if no node has it."""
    values = [value for _, metric, of, value in metrics if metric == wanted and statistic in (None, of)]
    return sum(values) if values else None


def _first(names: Iterable[str]) -> str:
    return next(iter(names), "")
