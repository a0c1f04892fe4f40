"""Compare published figures with measured ones: a row for each figure that the experiment names
(`published`).

Absolute numbers from another machine are seldom comparable, so each row also has the ratio to the baseline,
as published and as measured. Measured ratios have an exact interval over trials where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from crosswind.analysis.measure import QUANTILE_NAMES
from crosswind.analysis.plain import as_plain
from crosswind.analysis.summarise import ratio
from crosswind.analysis.summary import ConditionSummary, Estimate, Ratio, Summary
from crosswind.analysis.together import guards
from crosswind.results.reading import Results
from crosswind.stats import PerTrial, RatioInterval, guarded_interval
from crosswind.text.units import quantity

# Units that a file has to write, so that a plain number cannot have them.
WRITTEN_UNITS = ("ns", "bit/s", "B", "bit", "share")

Direction = Literal["same", "other", "unknown"]


@dataclass(frozen=True)
class PublishedComparison:
    """One published figure."""

    metric: str
    statistic: str
    condition: str
    unit: str  # of the published value: `ns`, `bit/s`, `B`, `share`, ..., `1` for a plain number
    published: float
    measured_unit: str | None  # as in metrics.parquet; None where no trial has such a figure
    here: Estimate | None  # median over trials; None where no trial has it, or only in another unit
    published_times: float | None  # ratio to the baseline; None for the baseline, and where it is unknown
    here_times: Ratio | None

    @property
    def figure(self) -> str:
        """The name of the figure, such as `latency.read P99`."""
        return f"{self.metric} {QUANTILE_NAMES.get(self.statistic, self.statistic)}"

    @property
    def direction(self) -> Direction:
        """Whether the measured figure lies on the same side of the baseline as the published one.

        `unknown` where the measured interval contains 1, or there is none. Rows are not corrected for their
        number: with some 300 rows, six trials could never show a direction.
        """
        here = self.here_times
        if self.published_times is None or not isinstance(here, RatioInterval) or not here.differs:
            return "unknown"
        return "same" if (here.low > 1) == (self.published_times > 1) else "other"


@dataclass(frozen=True)
class PublishedFigures:
    """All published figures of an experiment."""

    source: str
    baseline: str
    rows: list[PublishedComparison]


def published_figures(summary: Summary, results: Results) -> PublishedFigures | None:
    """Return the published figures of a run with the measured ones; None where its experiment names none."""
    named = summary.resolved.published
    if named is None:
        return None
    conditions = {condition.name: condition for condition in summary.conditions}
    series = {
        key: {name: _per_trial(condition, results, *key) for name, condition in conditions.items()}
        for key in dict.fromkeys((f.metric, f.statistic) for f in named.figures)
    }
    seen = guards(series, {name: condition.buckets for name, condition in conditions.items()})
    values = {(f.metric, f.statistic, f.condition): f.value for f in named.figures}
    rows = []
    for figure in named.figures:
        metric, statistic, name = figure.metric, figure.statistic, figure.condition
        if name not in conditions:
            continue
        base_value = values.get((metric, statistic, summary.baseline))
        is_baseline = name == summary.baseline
        trials, judged = series[metric, statistic], seen[metric, statistic]
        here = trials[name]
        measured_unit = results.units.get((metric, statistic))
        fits = bool(here.values) and _fit(figure.unit, measured_unit)
        rows.append(
            PublishedComparison(
                metric=metric,
                statistic=statistic,
                condition=name,
                unit=figure.unit,
                published=figure.value,
                measured_unit=measured_unit,
                here=guarded_interval(here, 0.5, judged[name]) if fits else None,
                published_times=None if is_baseline or not base_value else figure.value / base_value,
                here_times=ratio(trials, judged, summary.baseline, name)
                if fits and not is_baseline
                else None,
            )
        )
    return PublishedFigures(named.source, summary.baseline, rows)


def _fit(published: str, measured: str | None) -> bool:
    """Return whether values of two units are comparable."""
    return published == measured or (published == "1" and measured not in (None, *WRITTEN_UNITS))


def _per_trial(condition: ConditionSummary, results: Results, metric: str, statistic: str) -> PerTrial:
    """Return a metric of every counted trial that has it, added up over nodes."""
    found: dict[str, float | None] = {}
    for trial in condition.counted:
        rows = results.metrics.get(trial.row.trial, [])
        values = [value for _, name, of, value in rows if (name, of) == (metric, statistic)]
        if values:
            found[trial.row.trial] = sum(values)
    return PerTrial.of(found)


def shown_in(row: PublishedComparison) -> Callable[[float | None], str]:
    """Return the function that shows the values of a row, each in a suitable unit."""
    return lambda value: quantity(value, "" if row.unit == "1" else row.unit)


def as_json(figures: PublishedFigures) -> dict[str, JsonValue]:
    """Return the figures as plain data, each row with its direction."""
    rows: list[JsonValue] = [as_plain(row) | {"direction": row.direction} for row in figures.rows]
    return as_plain(figures) | {"rows": rows}
