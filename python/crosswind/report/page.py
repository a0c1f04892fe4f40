"""Write the report of a run as one HTML file."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crosswind.analysis.answer import answers, trials_so_far
from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.histories import QUESTION, counterexamples, data_answer
from crosswind.analysis.invariance import of_conditions
from crosswind.analysis.machines import machines_over
from crosswind.analysis.measure import OVER_100_MS, Measure
from crosswind.analysis.monitored import TITLES, monitored
from crosswind.analysis.moved import faithful_for, moved, ranges_meet
from crosswind.analysis.profile import profile_answers, profile_of, sensitivity_of
from crosswind.analysis.profile.answers import elasticity, said
from crosswind.analysis.published import published_figures, shown_in
from crosswind.analysis.repetitions import needed, repetitions
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Estimate, Ratio, Summary
from crosswind.report import strip
from crosswind.report.curves import THRESHOLDS_NS, read_curves
from crosswind.report.describe import describe
from crosswind.report.fault_figures import fault_figures
from crosswind.report.history_picture import CounterExample, draw
from crosswind.report.machines_section import machine_lines
from crosswind.report.measure_figures import measure_figures
from crosswind.report.monitor_figures import monitor_figures
from crosswind.report.network_figures import network_figures
from crosswind.report.network_section import network_section
from crosswind.report.operation_figures import operation_figures
from crosswind.report.over_time import over_time
from crosswind.report.profile_figures import profile_figures
from crosswind.report.repetition_figures import repetition_figures
from crosswind.report.table import WARNINGS
from crosswind.results.documents import RUN_AGAIN, blaming
from crosswind.results.durable import write_text
from crosswind.results.lock import only_writer
from crosswind.results.reading import Results
from crosswind.spec.resolved import slower_text
from crosswind.stats import Interval, NeedsTrials, RatioInterval, RefusedComparison, RefusedInterval
from crosswind.text import html_file, units
from crosswind.text.change import change, change_interval
from crosswind.text.picture import Picture


def write_report(folder: Path) -> Path:
    """Write `report.html` into the results folder and return its path.

    Args:
        folder: of one run, or of an experiment (then its `latest`).
    Raises:
        NotAResultsFolder: `folder` holds no results.
        FolderInUse: a run is writing the folder; it also writes the report when it ends.
    """
    results = Results(folder)
    with only_writer(results.path):
        return _write(results, goes_on=False)


def write_report_so_far(folder: Path) -> Path:
    """Write `report.html` while this process, which holds the lock of the folder, still runs its trials."""
    return _write(Results(folder), goes_on=True)


def _write(results: Results, *, goes_on: bool) -> Path:
    path = results.path / "report.html"
    write_text(path, render(results, goes_on=goes_on))
    return path


def render(results: Results, *, goes_on: bool = False) -> str:
    """Return the report as text.

    Args:
        goes_on: whether the trials that it lacks are about to run.
    """
    summary = summarise(results)
    curves = read_curves(summary, results)
    found = monitored(summary, results)
    repeated = repetitions(summary)
    with blaming(results.path / "resolved.json", RUN_AGAIN):
        profile = profile_of(summary)
        described = {c.name: describe(c) for c in summary.resolved.conditions}
    sensitive = sensitivity_of(profile) if profile else None
    # Without a counted trial, every axis would be empty.
    measured = any(trial.counted for trial in summary.trials)
    figures: list[Picture] = (
        []
        if not measured
        else [
            *(profile_figures(profile, found) if profile else ()),
            *operation_figures(summary, curves),
            *measure_figures(summary),
            *repetition_figures(summary, repeated),
            *network_figures(summary, results),
            *fault_figures(summary, results),
            *monitor_figures(summary, results, found),
        ]
    )
    short = units.short_names(condition.name for condition in summary.conditions)
    courses = over_time(summary, results)
    scale = strip.axis(summary)
    return html_file.render(
        "report.html.j2",
        figures,
        summary=summary,
        unfinished=_unfinished(summary, goes_on),
        when=_when(summary),
        slower=slower_text(summary.resolved.dilations),
        short=short,
        twice=of_conditions(summary),
        answers=answers(summary),
        profile=profile,
        sensitivity=sensitive,
        profile_answers=profile_answers(profile, sensitive, found) if profile and sensitive else [],
        elasticity=elasticity,
        said=said,
        cautions=cautions(summary),
        faithful_for=faithful_for,
        moved=moved,
        ranges_meet=ranges_meet,
        over_100_ms=OVER_100_MS,
        columns=[_column(summary, measure) for measure in summary.measures],
        ledger_unit=units.column_unit(
            t.ledger_error_ns.get(statistic) for t in summary.trials for statistic in ("p50", "max")
        ),
        headline=_headline(summary),
        strip_scale=scale,
        strip_header=strip.header(scale) if scale else None,
        strips={c.name: strip.row(scale, c) for c in summary.conditions} if scale else {},
        described=described,
        curves=curves,
        over_time=None if courses is None else courses.as_json(),
        over_time_trials=set() if courses is None else {course.trial for course in courses.trials},
        files={trial.row.trial: results.files(trial.row.trial) for trial in summary.trials},
        measured=measured,
        exact_seconds=units.exact_seconds,
        warnings=WARNINGS,
        repetitions={name: one.confirm for name, one in repeated.items()},
        needed=needed,
        monitored=found,
        network=network_section(results),
        machines=machine_lines(
            machines_over([trial.machines for trial in summary.trials], summary.provenance)
        ),
        monitor_titles=TITLES,
        published=published_figures(summary, results),
        question_of_data=QUESTION,
        data=data_answer(summary.histories),
        counterexamples=[
            CounterExample(one.trial, one.condition, key.key, key.why, key.hidden, draw(key))
            for one, key in counterexamples(summary.histories)
        ],
        shown_in=shown_in,
        in_unit=units.in_unit,
        times=units.times,
        change=change,
        change_interval=change_interval,
        thresholds=list(THRESHOLDS_NS),
        available=_available,
        refused=_refused,
        lacking=_lacking,
        any_interval=any(_available(c.estimates[summary.primary.key]) for c in summary.conditions),
        any_lacking=any(_lacking(c.estimates[summary.primary.key]) for c in summary.conditions),
    )


def _when(summary: Summary) -> str:
    """Return from when to when the trials ran."""
    spans = [
        (row.started, row.started + timedelta(seconds=row.duration_s or 0))
        for row in (trial.row for trial in summary.trials)
        if row.started is not None
    ]
    if not spans:
        return "-"
    begun, ended = min(begun for begun, _ in spans), max(ended for _, ended in spans)
    # A run that was resumed may have ended on another day.
    until = f"{ended:%H:%M}" if ended.date() == begun.date() else f"{ended:%Y-%m-%d %H:%M}"
    return f"{begun:%Y-%m-%d %H:%M} to {until} UTC"


def _unfinished(summary: Summary, goes_on: bool) -> str:
    """Return how much of a run the report knows; empty where it knows all."""
    if not (known := trials_so_far(summary)):
        return ""
    known = f"{known}, as of {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    if goes_on:
        # Nothing writes the page again after a kill.
        again = f"crosswind report {summary.folder} writes this page anew"
        return f"{known}, while the run went on. If it has ended since, {again}."
    return f"{known}. The run was stopped; crosswind resume {summary.folder} continues it."


@dataclass(frozen=True)
class MeasureColumn:
    """A measure as a column of the summary and of the tables of trials."""

    measure: Measure
    unit: units.Unit
    trial_unit: units.Unit


def _column(summary: Summary, measure: Measure) -> MeasureColumn:
    family = units.units_of(measure.unit)
    medians = [condition.estimates[measure.key].estimate for condition in summary.conditions]
    values = [trial.values.get(measure.key) for trial in summary.trials if trial.counted]
    return MeasureColumn(measure, units.column_unit(medians, family), units.column_unit(values, family))


def _headline(summary: Summary) -> list[Measure]:
    """Return the measures above a condition's trials: two figures, not two quantiles of one distribution."""
    others = [measure for measure in summary.measures if measure != summary.primary]
    if summary.primary.of_operations:
        others = [measure for measure in others if not measure.of_operations]
    return [summary.primary, *others[:1]]


def _available(estimate: Estimate | Ratio | None) -> bool:
    return isinstance(estimate, Interval | RatioInterval)


def _refused(estimate: Estimate | Ratio | None) -> bool:
    return isinstance(estimate, RefusedInterval | RefusedComparison)


def _lacking(estimate: Estimate | Ratio | None) -> bool:
    return isinstance(estimate, NeedsTrials)
