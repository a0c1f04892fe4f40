"""The picture of how many trials an interval takes."""

import numpy as np
import plotly.graph_objects as go

from crosswind.analysis.repetitions import Repetitions
from crosswind.analysis.summary import Summary
from crosswind.text.picture import Picture, finished, rounded
from crosswind.text.units import percent, short_names


def repetition_figures(summary: Summary, found: dict[str, Repetitions]) -> list[Picture]:
    """Draw the half-width of the interval by the number of trials, a line per condition."""
    if not found:
        return []
    short = short_names(condition.name for condition in summary.conditions)
    figure = go.Figure()
    for number, condition in enumerate(summary.conditions):
        if condition.name not in found:
            continue
        told = found[condition.name]
        centre = told.confirm.quantile
        farther = np.maximum(np.abs(told.curve.low - centre), np.abs(told.curve.high - centre)) / centre
        figure.add_trace(
            go.Scatter(
                x=told.curve.size.tolist(),
                y=[rounded(share) for share in farther.tolist()],
                name=short[condition.name],
                mode="lines",
                line={"width": 1.8},
                legendgroup=condition.name,
                showlegend=True,
                meta={"series": number},
                hovertemplate=f"{short[condition.name]}<br>%{{x}} trials: ±%{{y:.3~%}}<extra></extra>",
            )
        )
    within = next(iter(found.values())).confirm.within
    figure.update_layout(
        xaxis={"title": {"text": "trials"}},
        yaxis={"title": {"text": "± share of the median"}, "tickformat": "~%", "rangemode": "tozero"},
        shapes=[{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": within, "y1": within,
                 "line": {"width": 1, "dash": "dot"}}],
        legend={"orientation": "h", "y": -0.28, "yanchor": "top"},
        hovermode="closest",
    )  # fmt: skip
    alt = (
        "Half-width of the interval for the median by number of trials, one line per condition, and the "
        f"width that is asked for, {percent(within)}."
    )
    return [finished("repetitions", alt, 420, figure)]
