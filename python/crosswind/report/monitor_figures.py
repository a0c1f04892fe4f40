"""Pictures of monitors: the distribution of each quantity, and its course over time."""

from dataclasses import replace
from itertools import groupby

import plotly.graph_objects as go

from crosswind.analysis.monitored import TITLES, Distribution, courses
from crosswind.analysis.summary import ConditionSummary, Summary
from crosswind.report.network_figures import SECONDS_AXIS
from crosswind.results.reading import Results, TrendRow
from crosswind.text.picture import Picture, finished, log_axis, rounded
from crosswind.text.units import short_names

# The unit in which a value is drawn: axis title, and its size in the measured unit.
_UNITS = {
    "ns": ("us", 1e3),
    "B": ("bytes", 1.0),
    "packets": ("packets", 1.0),
    "per-mille": ("% of the link", 10.0),
}
POINTS = 120  # of a course: about two pixels each
_LINEAR = ("utilisation", "packet-size")


def monitor_figures(
    summary: Summary, results: Results, found: dict[str, list[Distribution]]
) -> list[Picture]:
    """Return the pictures in the order of `TITLES`: all distributions, then the courses over time."""
    figures = [figure for what in TITLES if (figure := _distributions(summary, found, what)) is not None]
    for number, condition in enumerate(summary.conditions):
        figures += [
            _course(results, condition, number, what, trials)
            for what, trials in courses(results, condition).items()
        ]
    return figures


def _distributions(summary: Summary, found: dict[str, list[Distribution]], what: str) -> Picture | None:
    """Draw a line for each condition and element; lines of one condition share a colour."""
    short = short_names(condition.name for condition in summary.conditions)
    lines = [
        (number, condition.name, distribution)
        for number, condition in enumerate(summary.conditions)
        for distribution in found[condition.name]
        if distribution.what == what
    ]
    if not lines:
        return None
    unit, size = _UNITS[lines[0][2].unit]
    above_zero = [value for *_, line in lines for value, _ in line.cumulated() if value]
    # A logarithmic axis has no 0: it is drawn at half of the smallest value above it.
    zero = 0.0 if what in _LINEAR else min(above_zero, default=1) / 2
    figure, values, named = go.Figure(), list[float](), set[str]()
    for number, name, distribution in lines:
        points = distribution.cumulated()
        xs = [rounded((value or zero) / size) for value, _ in points]
        values += xs
        figure.add_trace(
            go.Scatter(
                x=[xs[0], *xs],
                y=[0.0, *(rounded(100 * share) for _, share in points)],
                name=short[name],
                legendgroup=short[name],
                showlegend=name not in named,
                mode="lines",
                line={"width": 1.6, "shape": "hv"},
                opacity=0.85,
                meta={"series": number},
                hovertemplate=f"{short[name]}, {distribution.element}: "
                f"%{{y:.3g}} % up to %{{x:.4g}} {unit}<extra></extra>",
            )
        )
        named.add(name)
    counted = "time" if lines[0][2].counts == "ns" else lines[0][2].counts
    linear = {"title": {"text": unit}, "rangemode": "tozero"}
    figure.update_layout(
        xaxis=linear if what in _LINEAR else log_axis(unit, values),
        yaxis={"title": {"text": f"% of {counted}"}, "range": [0, 101]},
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    alt = f"{TITLES[what]}: share of {counted} up to each value, one line per condition and monitor."
    return finished(f"monitored-{what}", alt, 330, figure)


def _course(
    results: Results,
    condition: ConditionSummary,
    number: int,
    what: str,
    trials: list[tuple[str, list[TrendRow]]],
) -> Picture:
    """Draw the mean over time, a line for each trial and element, and behind it the greatest window."""
    figure = go.Figure()
    unit = ""
    for trial, rows in trials:
        measurement = results.measurement(trial)
        begin_ns = rows[0].at_ns if measurement is None else measurement.window.started_ns
        by_element = sorted(rows, key=lambda row: (row.element, row.at_ns))
        for element, steps in groupby(by_element, lambda row: row.element):
            course = _thinned(list(steps))
            unit, size = _UNITS[course[0].unit]
            for kind in ("greatest", "mean"):
                figure.add_trace(
                    go.Scatter(
                        x=[rounded((row.at_ns - begin_ns) / 1e9) for row in course],
                        y=[rounded((row.mean if kind == "mean" else row.greatest) / size) for row in course],
                        name=f"{trial} {element} {kind}",
                        mode="lines",
                        line={"shape": "hv", "width": 1.4}
                        if kind == "mean"
                        else {"shape": "hv", "width": 0.7},
                        opacity=0.9 if kind == "mean" else 0.3,
                        showlegend=False,
                        meta={"series": number},
                        hovertemplate=f"{element}, {kind}: %{{y:.4g}} {unit}<extra>{trial}</extra>",
                    )
                )
    figure.update_layout(xaxis=SECONDS_AXIS, yaxis={"title": {"text": unit}, "rangemode": "tozero"})
    alt = f"{TITLES[what]} over time under {condition.name}: mean and greatest window of each step."
    return finished(f"course-{what}-{number}", alt, 230, figure)


def _thinned(course: list[TrendRow]) -> list[TrendRow]:
    """Return at most `POINTS` steps: neighbours are merged, with their mean and their greatest window."""
    together = -(-len(course) // POINTS)
    groups = [course[start : start + together] for start in range(0, len(course), together)]
    return [
        replace(
            group[0],
            mean=sum(row.mean for row in group) / len(group),
            greatest=max(row.greatest for row in group),
        )
        for group in groups
    ]
