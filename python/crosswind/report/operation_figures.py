"""Pictures of single operations: latency as boxes and as curves."""

import plotly.graph_objects as go

from crosswind.analysis.summary import Summary
from crosswind.report.curves import ConditionCurves
from crosswind.stats import Curve
from crosswind.text.picture import (
    ROW,
    Picture,
    condition_label,
    dot_px,
    finished,
    log_axis,
    milliseconds,
    rounded,
    row_axis,
    row_places,
)
from crosswind.text.units import short_names

DASHES = ("solid", "dot")  # the second half of the palette differs in more than colour
PALETTE = 10


def operation_figures(summary: Summary, curves: dict[str, ConditionCurves]) -> list[Picture]:
    """Return all pictures; empty where no trial has samples."""
    if not any(condition.pooled for condition in curves.values()):
        return []
    return [latency_boxes(summary, curves), latency_ccdf(summary, curves), latency_ecdf(summary, curves)]


def latency_boxes(summary: Summary, curves: dict[str, ConditionCurves]) -> Picture:
    """Draw a box for each condition, with each trial's P99 beside it: the box alone hides the tail."""
    short = short_names(condition.name for condition in summary.conditions)
    figure = go.Figure()
    drawn: list[float] = []
    for number, condition in enumerate(summary.conditions):
        box = curves[condition.name].pooled
        label = condition_label(short[condition.name])
        if box is not None:
            drawn += [milliseconds(box.whisker_low), milliseconds(box.whisker_high)]
            figure.add_trace(
                go.Box(
                    orientation="h",
                    y=[number],
                    width=ROW,
                    name=label,
                    q1=[milliseconds(box.q1)],
                    median=[milliseconds(box.median)],
                    q3=[milliseconds(box.q3)],
                    lowerfence=[milliseconds(box.whisker_low)],
                    upperfence=[milliseconds(box.whisker_high)],
                    showlegend=False,
                    meta={"series": number},
                )
            )
        p99 = {
            trial.row.trial: milliseconds(trial.latency_ns["p99"])
            for trial in condition.counted
            if "p99" in trial.latency_ns
        }
        drawn += p99.values()
        figure.add_trace(
            go.Scatter(
                x=list(p99.values()),
                y=row_places(number, len(p99)),
                customdata=list(p99),
                name=f"{label}, P99 of a trial",
                mode="markers",
                marker={"symbol": "diamond-open", "size": dot_px(len(p99)), "line": {"width": 2}},
                showlegend=False,
                meta={"series": number},
                hovertemplate="P99 of %{customdata}: %{x:.4g} ms<extra></extra>",
            )
        )
    figure.update_layout(
        xaxis=log_axis("latency (ms, logarithmic)", drawn),
        yaxis=row_axis(short.values()),
    )
    alt = "Box plots of latency by condition on a logarithmic axis; the summary table has the numbers."
    return finished("boxes", alt, 110 + 46 * len(summary.conditions), figure)


def latency_ccdf(summary: Summary, curves: dict[str, ConditionCurves]) -> Picture:
    """Draw how often a latency is exceeded, one line for each trial."""
    lines = {name: [(t.trial, t.ccdf) for t in c.trials] for name, c in curves.items()}
    values = [value / 1e6 for trials in lines.values() for _, curve in trials for value in curve.value]
    shares = [share for trials in lines.values() for _, curve in trials for share in curve.share]
    figure = _lines(summary, lines)
    figure.update_layout(
        xaxis=log_axis("latency x (ms, logarithmic)", values),
        yaxis=log_axis("share of operations slower than x", shares) | {"tickformat": "~%", "dtick": 1},
    )
    alt = "Complementary distribution of latency, one line per trial, both axes logarithmic."
    return finished("ccdf", alt, 520, figure)


def latency_ecdf(summary: Summary, curves: dict[str, ConditionCurves]) -> Picture:
    """Draw the distribution of latency, one line for each trial."""
    figure = _lines(summary, {name: [(t.trial, t.ecdf) for t in c.trials] for name, c in curves.items()})
    # With stalls of 200 ms on the same axis, the body would be too small to see.
    body = [t.latency_ns for t in summary.trials if t.counted and t.latency_ns]
    ends = [min(q["p50"] for q in body) / 4e6, 3 * max(q["p95"] for q in body) / 1e6]
    figure.update_layout(
        xaxis=log_axis("latency x (ms, logarithmic)", ends),
        yaxis={"title": {"text": "share of operations up to x"}, "tickformat": "~%", "range": [0, 1.01]},
    )
    alt = "Distribution of latency, one line per trial, latency on a logarithmic axis."
    return finished("ecdf", alt, 480, figure)


def _lines(summary: Summary, lines: dict[str, list[tuple[str, Curve]]]) -> go.Figure:
    short = short_names(condition.name for condition in summary.conditions)
    figure = go.Figure()
    for number, condition in enumerate(summary.conditions):
        dash = DASHES[number // (PALETTE // 2) % len(DASHES)]
        for position, (trial, curve) in enumerate(lines[condition.name]):
            figure.add_trace(
                go.Scatter(
                    x=[milliseconds(value) for value in curve.value],
                    y=[rounded(share) for share in curve.share],
                    name=short[condition.name],
                    mode="lines",
                    line={"width": 1.3, "shape": "hv", "dash": dash},
                    legendgroup=condition.name,
                    showlegend=position == 0,
                    meta={"series": number},
                    hovertemplate=f"{short[condition.name]}<br>{trial}<br>"
                    "%{x:.4g} ms: %{y:.4~%}<extra></extra>",
                )
            )
    figure.update_layout(legend={"orientation": "h", "y": -0.28, "yanchor": "top"}, hovermode="closest")
    return figure
