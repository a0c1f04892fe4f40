"""Draw how many trials an interval needs."""

import numpy as np
import plotly.graph_objects as go

from crosswind.analysis.repetitions import Repetitions
from crosswind.analysis.summary import Summary
from crosswind.text.picture import Picture, finished, rounded
from crosswind.text.units import percent, short_names


def repetition_figures(summary: Summary, found: dict[str, Repetitions]) -> list[Picture]:
    """Draw the half-width of the interval against the number of trials, a line for each condition."""
    if not found:
        return []
    short = short_names(condition.name for condition in summary.conditions)
    figure = go.Figure()
    for number, condition in enumerate(summary.conditions):
        if condition.name not in found:
            continue
        one = found[condition.name]
        centre = one.confirm.quantile
        farther = np.maximum(np.abs(one.curve.low - centre), np.abs(one.curve.high - centre)) / centre
        figure.add_trace(
            go.Scatter(
                x=one.curve.size.tolist(),
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
        "Half-width of the interval of the median against the number of trials, one line for each condition, "
        f"and the target, {percent(within)}."
    )
    return [finished("repetitions", alt, 420, figure)]
