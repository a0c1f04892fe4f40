"""The report: one HTML file with everything in it, which needs no network and forbids itself to use one."""

import json
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from crosswind.report import strip, units
from crosswind.report.answer import answers
from crosswind.report.cautions import cautions
from crosswind.report.curves import THRESHOLDS_NS, read_curves
from crosswind.report.describe import describe
from crosswind.report.figure import Figure
from crosswind.report.folder import Results
from crosswind.report.measure import Measure
from crosswind.report.measure_figures import measure_figures
from crosswind.report.monitor_figures import monitor_figures
from crosswind.report.monitored import TITLES, monitored
from crosswind.report.network_figures import network_figures
from crosswind.report.operation_figures import operation_figures
from crosswind.report.profile import profile_answers, profile_figures, profile_of, sensitivity_of
from crosswind.report.profile.answers import elasticity, said
from crosswind.report.repetition_figures import repetition_figures
from crosswind.report.repetitions import needed, repetitions
from crosswind.report.summary import Estimate, Ratio, Summary, summarise
from crosswind.stats import Interval, NeedsTrials, RatioInterval, RefusedComparison, RefusedInterval


def write_report(folder: Path) -> Path:
    """Write `report.html` into the results folder and return its path.

    Args:
        folder: of one run, or of an experiment (then its `latest`).
    Raises: NotAResultsFolder: `folder` holds no results.
    """
    results = Results(folder)
    path = results.path / "report.html"
    path.write_text(render(results), encoding="utf-8")
    return path


def render(results: Results) -> str:
    """Return the report as text."""
    summary = summarise(results)
    curves = read_curves(summary, results)
    found = monitored(summary, results)
    repeated = repetitions(summary)
    profile = profile_of(summary)
    sensitive = sensitivity_of(profile) if profile else None
    figures: list[Figure] = [
        *(profile_figures(profile, found) if profile else ()),
        *operation_figures(summary, curves),
        *measure_figures(summary),
        *repetition_figures(summary, repeated),
        *network_figures(summary, results),
        *monitor_figures(summary, results, found),
    ]
    short = units.short_names(condition.name for condition in summary.conditions)
    environment = Environment(
        loader=PackageLoader("crosswind.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        number=units.number, count=units.count, percent=units.percent, times=units.times,
        duration=units.duration, quantity=units.quantity, rate=units.rate, available=_available,
        refused=_refused, lacking=_lacking, day=_day, flat=_flat, pretty=_pretty, coded=_coded,
    )  # fmt: skip
    scale = strip.axis(summary)
    return environment.get_template("report.html.j2").render(
        summary=summary,
        short=short,
        answers=answers(summary),
        profile=profile,
        sensitivity=sensitive,
        profile_answers=profile_answers(profile, sensitive, found) if profile and sensitive else [],
        elasticity=elasticity,
        said=said,
        cautions=cautions(summary),
        columns=[_column(summary, measure) for measure in summary.measures],
        ledger_unit=units.column_unit(
            t.ledger_error_ns.get(statistic) for t in summary.trials for statistic in ("p50", "max")
        ),
        headline=_headline(summary),
        strip_scale=scale,
        strip_header=strip.header(scale) if scale else None,
        strips={c.name: strip.row(scale, c) for c in summary.conditions} if scale else {},
        described={c["name"]: describe(c) for c in summary.resolved.get("conditions", [])},
        curves=curves,
        repetitions={name: told.confirm for name, told in repeated.items()},
        needed=needed,
        monitored=found,
        monitor_titles=TITLES,
        in_unit=units.in_unit,
        thresholds=list(THRESHOLDS_NS),
        figures={figure.key: figure for figure in figures},
        figure_kinds={figure.key.partition("-")[0] for figure in figures},
        figure_data=_json_for_script({figure.key: figure.spec for figure in figures}),
        style=_asset("report.css"),
        script=_asset("report.js"),
        plotly=_plotly(),
        any_interval=any(_available(c.estimates[summary.primary.key]) for c in summary.conditions),
        any_lacking=any(_lacking(c.estimates[summary.primary.key]) for c in summary.conditions),
    )


@dataclass(frozen=True)
class Column:
    """A measure as a column of the summary, and of the tables of trials."""

    measure: Measure
    unit: units.Unit
    trial_unit: units.Unit


def _column(summary: Summary, measure: Measure) -> Column:
    family = units.units_of(measure.unit)
    medians = [condition.estimates[measure.key].estimate for condition in summary.conditions]
    values = [trial.values.get(measure.key) for trial in summary.trials if trial.counted]
    return Column(measure, units.column_unit(medians, family), units.column_unit(values, family))


def _headline(summary: Summary) -> list[Measure]:
    """Return what the line above a condition's trials names: two figures, no two quantiles of one law."""
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


def _day(instant: datetime | None) -> str:
    return "-" if instant is None else f"{instant:%Y-%m-%d %H:%M} UTC"


def _flat(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Return nested data as (dotted name, text) rows."""
    if isinstance(value, dict) and value:
        return [
            row
            for key, member in value.items()
            for row in _flat(member, f"{prefix}.{key}" if prefix else str(key))
        ]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [(prefix, text)]


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _coded(text: str) -> Markup:
    """Return text whose words between backticks are code."""
    parts = str(escape(text)).split("`")
    return Markup("".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts)))


def _asset(name: str) -> Markup:
    return Markup(resources.files("crosswind.report").joinpath("assets", name).read_text(encoding="utf-8"))


def _plotly() -> Markup:
    """Return the bundle of plotly.js that the installed plotly carries, so that it fits the figures made "
    "with it."""
    bundle = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
    # Inside <script>, this sequence would end the script wherever it stands; in a string the escape is the
    # same text.
    return Markup(bundle.replace("</script", "<\\/script"))


def _json_for_script(value: Any) -> Markup:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))
