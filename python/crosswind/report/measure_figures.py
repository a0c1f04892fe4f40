"""Pictures of numbers of whole trials: one dot for each trial, so that their spread is visible."""

import plotly.graph_objects as go

from crosswind.analysis.measure import Measure
from crosswind.analysis.summary import Summary
from crosswind.stats import box_plot
from crosswind.text.picture import (
    ROW,
    Picture,
    condition_label,
    dot_px,
    finished,
    rounded,
    row_axis,
    row_places,
    value_axis,
)
from crosswind.text.units import column_unit, short_names, units_of

BOX_TRIALS = 5  # fewer values need no summary


def measure_figures(summary: Summary) -> list[Picture]:
    """Return a picture of every measure that is no quantile of operations; those have their own pictures.

    Where single operations were not recorded, their quantiles are drawn here too.
    """
    return [
        _dots(summary, place, measure)
        for place, measure in enumerate(summary.measures)
        if not (measure.of_operations and summary.has_operations)
    ]


def _dots(summary: Summary, place: int, measure: Measure) -> Picture:
    short = short_names(condition.name for condition in summary.conditions)
    known = {
        condition.name: {
            t.row.trial: t.values[measure.key] for t in condition.counted if measure.key in t.values
        }
        for condition in summary.conditions
    }
    unit = column_unit((v for values in known.values() for v in values.values()), units_of(measure.unit))
    drawn: list[float] = []
    figure = go.Figure()
    for number, condition in enumerate(summary.conditions):
        label = condition_label(short[condition.name])
        values = {trial: rounded(value / unit.size) for trial, value in known[condition.name].items()}
        drawn += values.values()
        if len(values) >= BOX_TRIALS:
            box = box_plot(list(values.values()))
            figure.add_trace(
                go.Box(
                    orientation="h",
                    y=[number],
                    width=ROW,
                    name=label,
                    q1=[box.q1],
                    median=[box.median],
                    q3=[box.q3],
                    lowerfence=[box.whisker_low],
                    upperfence=[box.whisker_high],
                    showlegend=False,
                    meta={"series": number},
                )
            )
        figure.add_trace(
            go.Scatter(
                x=list(values.values()),
                y=row_places(number, len(values)),
                customdata=list(values),
                name=label,
                mode="markers",
                marker={"size": dot_px(len(values)), "opacity": 0.8},
                showlegend=False,
                meta={"series": number},
                hovertemplate=f"%{{customdata}}: %{{x:.4g}} {unit.name}<extra></extra>",
            )
        )
    title = measure.title + (f" ({unit.name})" if unit.name else "")
    figure.update_layout(xaxis=value_axis(title, drawn), yaxis=row_axis(short.values()))
    alt = f"{measure.title} of each trial, by condition; {measure.better} is better."
    return finished(f"measure-{place}", alt, 110 + 40 * len(summary.conditions), figure)
