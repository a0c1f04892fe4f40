"""Pictures of a condition with faults: throughput, P99 and failed operations over time, faults as bands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from crosswind.analysis.faults import CUTS, STEP_NS, Course, Outage, course_of
from crosswind.analysis.summary import ConditionSummary, Summary, TrialSummary
from crosswind.results.reading import Results
from crosswind.text.picture import Picture, finished, log_axis, rounded

# More conditions are tables only, and trials of a large run are in their median only: pages stay small.
PICTURES = 12
POINTS = 200_000
# More bands have a number instead of words, which the table explains.
WORDS_MAX = 6
# Domains from top to bottom; above them stand the labels of bands.
_TOP = 0.88
_PANELS = (
    ("throughput", "operations per second", 1, (0.58, _TOP)),
    ("P99 latency", "ms, logarithmic", 2, (0.25, 0.52)),
    ("failed operations", "per second", 7, (0.0, 0.19)),
)


def fault_figures(summary: Summary, results: Results) -> list[Picture]:
    """Return a picture for each condition that had faults in a counted trial."""
    broken = [
        (number, condition)
        for number, condition in enumerate(summary.conditions)
        if any(trial.faults for trial in condition.counted)
    ][:PICTURES]
    found = {number: list(_courses(results, condition)) for number, condition in broken}
    points = 3 * sum(course.rate.size for courses in found.values() for course in courses)
    return [
        _picture(condition, number, found[number], each_trial=points <= POINTS)
        for number, condition in broken
        if found[number]
    ]


def _courses(results: Results, condition: ConditionSummary) -> Iterator[Course]:
    for trial in condition.counted:
        operations, measurement = results.operations(trial.row.trial), results.measurement(trial.row.trial)
        if operations is not None and operations.ok.size and measurement is not None:
            yield course_of(operations, measurement.window.started_ns, measurement.window.length_ns)


def _picture(
    condition: ConditionSummary, number: int, courses: Sequence[Course], *, each_trial: bool
) -> Picture:
    steps = min(course.rate.size for course in courses)
    seconds = [rounded(step * STEP_NS / 1e9) for step in range(steps + 1)]
    figure, panels = go.Figure(), list(zip(_PANELS, _stacked(courses, steps), strict=True))
    for place, ((title, unit, series, _), values) in enumerate(panels):
        shown = (
            [*values, np.median(values, axis=0)]
            if each_trial and len(values) > 1
            else [np.median(values, axis=0)]
        )
        for position, line in enumerate(shown):
            is_median = position == len(shown) - 1
            figure.add_trace(
                go.Scatter(
                    x=seconds,
                    y=_to_the_end(line),
                    name=title if is_median else f"{title}, a trial",
                    mode="lines",
                    line={"shape": "hv", "width": 1.8 if is_median else 1},
                    opacity=1 if is_median else 0.3,
                    yaxis="y" if place == 0 else f"y{place + 1}",
                    fill="tozeroy" if is_median and place != 1 else None,
                    showlegend=False,
                    hoverinfo=None if is_median else "skip",
                    hovertemplate=f"{title}: %{{y:.4g}} {unit.partition(',')[0]}<extra></extra>"
                    if is_median
                    else None,
                    meta={"series": series},
                )
            )
    bands = _bands(next(trial for trial in condition.counted if trial.faults), steps)
    latencies = [float(value) for value in np.ravel(panels[1][1]) if value == value]
    figure.update_layout(
        xaxis={
            "title": {"text": "s since the measurement began"},
            "range": [0, seconds[-1]],
            "anchor": "y3",
        },
        yaxis={"domain": _PANELS[0][3], "rangemode": "tozero", "nticks": 5},
        yaxis2=log_axis("", latencies) | {"domain": _PANELS[1][3], "title": {}},
        yaxis3={"domain": _PANELS[2][3], "nticks": 3, "range": [0, _highest(panels[2][1])]},
        hovermode="x unified",
        hoversubplots="axis",
        shapes=[shape for shape, _ in bands],
        annotations=[*(label for _, label in bands), *_titles()],
    )
    alt = f"Throughput, P99 latency and failed operations over time under {condition.name}, with its faults."
    return finished(f"faults-{number}", alt, 520, figure)


def _stacked(courses: Sequence[Course], steps: int) -> Iterator[NDArray[np.float64]]:
    """Yield throughput, P99 in ms and failures of all trials: shape (trials, steps)."""
    yield np.array([course.rate[:steps] for course in courses])
    yield np.array([course.p99_ns[:steps] / 1e6 for course in courses])
    yield np.array([course.failed[:steps] for course in courses])


def _to_the_end(values: NDArray[np.float64]) -> list[float | None]:
    """Return values for a stepped line, the last one twice; a step without operations has none."""
    shown = [None if value != value else rounded(float(value)) for value in values]
    return [*shown, shown[-1]]


def _highest(values: NDArray[np.float64]) -> float:
    return rounded(max(1.0, 1.08 * float(values.max())))


def _titles() -> Iterator[dict[str, object]]:
    for title, unit, _, (_, top) in _PANELS:
        # Between the first panel and its title are the labels of bands.
        yield {
            "text": f"<b>{title.capitalize() if title[0] != 'P' else title}</b>  {unit}",
            "xref": "paper",
            "yref": "paper",
            "x": 0,
            "y": 1 if top == _TOP else top,
            "xanchor": "left",
            "yanchor": "top" if top == _TOP else "bottom",
            "showarrow": False,
        }


def _bands(trial: TrialSummary, steps: int) -> list[tuple[dict[str, object], dict[str, object]]]:
    """Return the shape and the label of each fault; two that are near each other are in two rows."""
    length_s, found = steps * STEP_NS / 1e9, []
    rows = [-1.0, -1.0]
    for number, fault in enumerate(trial.faults, 1):
        begin_s = rounded(fault.begin_ns / 1e9)
        end_s = length_s if fault.end_ns is None else rounded(fault.end_ns / 1e9)
        text = fault.words if len(trial.faults) <= WORDS_MAX else str(number)
        # About as wide as the text: 140 letters are as wide as the picture.
        row = next((row for row, until in enumerate(rows) if until <= begin_s), 0)
        rows[row] = begin_s + length_s * (len(text) + 2) / 140
        found.append((_shape(fault, begin_s, end_s), _label(text, begin_s, row)))
    return found


def _shape(fault: Outage, begin_s: float, end_s: float) -> dict[str, object]:
    return {
        "name": "cut" if fault.kind in CUTS else "hit",
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": begin_s,
        "x1": end_s,
        "y0": 0,
        "y1": _TOP,
        "layer": "below",
    }


def _label(text: str, begin_s: float, row: int) -> dict[str, object]:
    return {
        "text": text,
        "xref": "x",
        "yref": "paper",
        "x": begin_s,
        "y": _TOP,
        "yshift": 1 + 15 * row,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
