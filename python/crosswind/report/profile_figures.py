"""Pictures of a network profile: the surface, its contour, its cuts, and the monitors along a factor."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import plotly.graph_objects as go

from crosswind.analysis.monitored import TITLES, Distribution, by_place
from crosswind.analysis.profile.axis import Axis
from crosswind.analysis.profile.fitted import fitted
from crosswind.analysis.profile.surface import Surface, SurfacePoint
from crosswind.text.picture import Picture, finished, log_axis, rounded
from crosswind.text.units import quantity

# Low performance is dark, high is light; the order is visible with any colour vision (viridis).
_COLOURS = [
    [0.0, "#440154"], [0.2, "#414487"], [0.4, "#2a788e"],
    [0.6, "#22a884"], [0.8, "#7ad151"], [1.0, "#fde725"],
]  # fmt: skip
_ALONG = ("burst-packets", "packet-size")  # drawn against the levels, beside link utilisation


def profile_figures(surface: Surface, monitored: dict[str, list[Distribution]]) -> list[Picture]:
    """Return surface and contour (for two factors), cuts, and distributions along the levels."""
    figures = []
    if len(surface.axes) == 2:
        between = _between(surface)
        figures = [_surface(surface, between), _contour(surface, between)]
    figures += [_cuts(surface, place) for place in range(len(surface.axes))]
    return [*figures, *_along(surface, monitored)]


def _title(surface: Surface) -> str:
    return (
        f"{surface.measure.title}, % of the best"
        if surface.measure.better == "higher"
        else "Performance, % of the best"
    )


def _percent(surface: Surface, point: SurfacePoint) -> float:
    return rounded(100 * surface.share(point.value))


def _axis(axis: Axis) -> dict[str, object]:
    """Return an axis with its levels as ticks."""
    return {
        "title": {"text": axis.name},
        "tickvals": [rounded(axis.drawn(level)) for level in axis.levels],
        "ticktext": [axis.label(level) for level in axis.levels],
    }


def _words(surface: Surface, point: SurfacePoint) -> str:
    """Return the text that is shown when the pointer is on a point."""
    levels = ", ".join(axis.label(point.at[axis.name]) for axis in surface.axes)
    interval = surface.interval(point)
    text = f"{levels}<br>{_percent(surface, point):.3g} % of the best"
    if interval is not None:
        text += f" ({100 * interval[0]:.3g} to {100 * interval[1]:.3g})"
    value = quantity(point.value, surface.measure.unit)
    return f"{text}<br>{surface.measure.label} {value}, {point.logs.size} trials"


_Value = TypeVar("_Value")
_Percents = list[list[float | None]]  # rows by the second axis, columns by the first


def _matrix(surface: Surface, of: Callable[[SurfacePoint], _Value]) -> list[list[_Value | None]]:
    """Return rows by the second axis, columns by the first; None where no point was measured."""
    first, second = surface.axes
    points = {(point.at[first.name], point.at[second.name]): point for point in surface.points}
    return [[of(points[x, y]) if (x, y) in points else None for x in first.levels] for y in second.levels]


def _between(surface: Surface) -> _Percents | None:
    """Return the surface in % of the best: the points themselves, or the fit to them."""
    if surface.complete:
        return _matrix(surface, lambda point: _percent(surface, point))
    rows = fitted(surface)
    return None if rows is None else [[rounded(100 * share) for share in row] for row in rows.tolist()]


def _surface(surface: Surface, between: _Percents | None) -> Picture:
    first, second = surface.axes
    common = {"colorscale": _COLOURS, "cmin": 0, "cmax": 100, "hovertemplate": "%{text}<extra></extra>"}
    figure = go.Figure()
    xs, ys = ([rounded(a.drawn(p.at[a.name])) for p in surface.points] for a in surface.axes)
    zs = [_percent(surface, point) for point in surface.points]
    texts = [_words(surface, point) for point in surface.points]
    if between is not None:
        fit = "% of the best by the fit, not measured"
        texts_of = zip(_matrix(surface, lambda point: _words(surface, point)), between, strict=True)
        shown = [[text or f"{z:.3g} {fit}" for text, z in zip(*rows, strict=True)] for rows in texts_of]
        figure.add_trace(
            go.Surface(
                x=[rounded(first.drawn(level)) for level in first.levels],
                y=[rounded(second.drawn(level)) for level in second.levels],
                z=between,
                text=shown,
                opacity=1 if surface.complete else 0.75,
                showscale=False,
                **common,
            )
        )
    figure.add_trace(
        go.Scatter3d(
            x=xs,
            y=ys,
            z=zs,
            text=texts,
            mode="markers",
            marker={"size": 4, "color": zs, "colorscale": _COLOURS, "cmin": 0, "cmax": 100},
            error_z=_errors(surface, surface.points),
            showlegend=False,
            hovertemplate="%{text}<extra></extra>",
        )
    )
    figure.update_layout(
        scene={
            "xaxis": _axis(first),
            "yaxis": _axis(second),
            "zaxis": {"title": {"text": "% of the best"}, "range": [0, 105]},
            "camera": {"eye": {"x": -1.35, "y": -1.5, "z": 0.75}, "center": {"x": 0, "y": 0, "z": -0.18}},
            "aspectratio": {"x": 1.1, "y": 1.1, "z": 0.8},
        },
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
    )
    alt = f"{_title(surface)}, as a surface over {first.name} and {second.name}; {_points_say(surface)}."
    return finished("profile-surface", alt, 480, figure)


def _contour(surface: Surface, between: _Percents | None) -> Picture:
    first, second = surface.axes
    xs, ys = ([rounded(a.drawn(p.at[a.name])) for p in surface.points] for a in surface.axes)
    zs = [_percent(surface, point) for point in surface.points]
    figure = go.Figure()
    if between is not None:
        figure.add_trace(
            go.Contour(
                x=[rounded(first.drawn(level)) for level in first.levels],
                y=[rounded(second.drawn(level)) for level in second.levels],
                z=between,
                colorscale=_COLOURS,
                zmin=0,
                zmax=100,
                contours={
                    "start": 10,
                    "end": 100,
                    "size": 10,
                    "showlabels": True,
                    "labelfont": {"color": "white"},
                },
                line={"width": 0.8, "color": "rgba(255,255,255,.6)"},
                colorbar={"title": {"text": "% of<br>the best"}, "thickness": 12, "outlinewidth": 0},
                hoverinfo="skip",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=xs,
            y=ys,
            text=[_words(surface, point) for point in surface.points],
            mode="markers",
            marker={
                "size": 9, "color": zs, "colorscale": _COLOURS, "cmin": 0, "cmax": 100,
                "line": {"color": "white", "width": 1.4},
            },
            showlegend=False,
            hovertemplate="%{text}<extra></extra>",
        )
    )  # fmt: skip
    figure.update_layout(xaxis=_axis(first), yaxis=_axis(second))
    alt = f"{_title(surface)}, as a contour over {first.name} and {second.name}; {_points_say(surface)}."
    return finished("profile-contour", alt, 420, figure)


def _points_say(surface: Surface) -> str:
    if surface.complete:
        return "a dot is a condition, and a table has its numbers"
    return "a dot is a measured condition, and the surface between is fitted (Gaussian process)"


def _errors(surface: Surface, points: Iterable[SurfacePoint]) -> dict[str, object]:
    """Return error bars of the intervals; of length 0 where there is none."""
    plus, minus = [], []
    for point in points:
        share = surface.share(point.value)
        low, high = surface.interval(point) or (share, share)
        plus.append(rounded(100 * (high - share)))
        minus.append(rounded(100 * (share - low)))
    return {
        "type": "data",
        "symmetric": False,
        "array": plus,
        "arrayminus": minus,
        "thickness": 1.4,
        "width": 4,
    }


def _cuts(surface: Surface, place: int) -> Picture:
    """Draw performance over one factor: a line for each level of the other, and a dot for each trial."""
    axis = surface.axes[place]
    other = next((each for each in surface.axes if each is not axis), None)
    figure = go.Figure()
    for series, level in enumerate(other.levels if other else (None,)):
        points = sorted(
            (point for point in surface.points if other is None or point.at[other.name] == level),
            key=lambda point: point.at[axis.name],
        )
        name = surface.measure.title if other is None or level is None else other.label(level)
        xs = [rounded(axis.drawn(point.at[axis.name])) for point in points]
        figure.add_trace(
            go.Scatter(
                x=xs,
                y=[_percent(surface, point) for point in points],
                text=[_words(surface, point) for point in points],
                error_y=_errors(surface, points),
                name=name,
                legendgroup=name,
                mode="lines+markers",
                line={"width": 2},
                marker={"size": 7},
                meta={"series": series},
                hovertemplate="%{text}<extra></extra>",
            )
        )
        trials = [
            (x, surface.share(value))
            for x, point in zip(xs, points, strict=True)
            for value in _values(surface, point)
        ]
        figure.add_trace(
            go.Scatter(
                x=[x for x, _ in trials],
                y=[rounded(100 * share) for _, share in trials],
                name=f"{name}, trials",
                legendgroup=name,
                mode="markers",
                marker={"size": 5, "opacity": 0.35},
                showlegend=False,
                meta={"series": series},
                hovertemplate="a trial: %{y:.3g} %<extra></extra>",
            )
        )
    figure.update_layout(
        xaxis=_axis(axis),
        yaxis={"title": {"text": "% of the best"}, "rangemode": "tozero"},
        showlegend=other is not None,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    among = f", a line for each {other.name}" if other else ""
    return finished(
        f"profile-cut-{place}", f"{_title(surface)} over {axis.name}{among}; a dot is a trial.", 360, figure
    )


def _values(surface: Surface, point: SurfacePoint) -> tuple[float, ...]:
    return point.condition.per_trial(surface.measure.key).values


def _along(surface: Surface, monitored: dict[str, list[Distribution]]) -> list[Picture]:
    """Draw the monitors' distributions along one factor (a delay if there is one), the other at its best."""
    axis = next((axis for axis in surface.axes if axis.unit == "ns"), surface.axes[-1])
    best = {each.name: surface.towards_better(each)[-1] for each in surface.axes if each is not axis}
    along = [
        (level, monitored.get(point.condition.name, []))
        for level in axis.levels
        if (point := surface.point_at(**best, **{axis.name: level})) is not None
    ]
    figures = []
    for what in ("utilisation", *_ALONG):
        for number, (place, found) in enumerate(_by_place(along, what).items()):
            key = f"along-{what}-{number}"
            if len(found) > 1 and what == "utilisation":
                figures.append(_utilisation(key, axis, place, found))
            elif len(found) > 1:
                figures.append(_distribution(key, axis, what, place, found))
    return figures


_Found = list[tuple[float, Distribution]]


def _by_place(along: list[tuple[float, list[Distribution]]], what: str) -> dict[str, _Found]:
    """Return place of a monitor -> its distributions of a quantity, by level."""
    places: dict[str, _Found] = {}
    for level, distributions in along:
        for place, distribution in by_place(d for d in distributions if d.what == what).items():
            places.setdefault(place, []).append((level, distribution))
    return places


def _utilisation(key: str, axis: Axis, place: str, found: _Found) -> Picture:
    """Draw the cumulative distributions of a link's utilisation as a surface, as Figure 7 of the paper."""
    grid = list(range(0, 101, 2))
    rows = [[rounded(100 * _share_up_to(distribution, 10 * at)) for at in grid] for _, distribution in found]
    figure = go.Figure(
        go.Surface(
            x=grid,
            y=[rounded(axis.drawn(level)) for level, _ in found],
            z=rows,
            colorscale=_COLOURS,
            cmin=0,
            cmax=100,
            showscale=False,
            hovertemplate="%{z:.3g} % of the time at most %{x} % of the link<extra></extra>",
        )
    )
    figure.update_layout(
        scene={
            "xaxis": {"title": {"text": "% of the link"}},
            "yaxis": _axis(axis),
            "zaxis": {"title": {"text": "% of the time"}, "range": [0, 100]},
            "camera": {"eye": {"x": 1.55, "y": -1.85, "z": 0.85}, "center": {"x": 0, "y": 0, "z": -0.15}},
        },
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
    )
    alt = f"Share of the time in which {place} carried at most a share of its rate, over {axis.name}."
    return finished(key, alt, 400, figure)


def _share_up_to(distribution: Distribution, value: int) -> float:
    return sum(count for low, _, count in distribution.bins if low <= value) / distribution.total


def _distribution(key: str, axis: Axis, what: str, place: str, found: _Found) -> Picture:
    """Draw the distribution of a quantity, a line for each level, as in Figures 8 and 9 of the paper."""
    figure = go.Figure()
    drawn: list[float] = []
    for series, (level, distribution) in enumerate(found):
        points = [(value, share) for value, share in distribution.cumulated() if value > 0]
        drawn += [value for value, _ in points]
        name = axis.label(level)
        figure.add_trace(
            go.Scatter(
                x=[rounded(value) for value, _ in points],
                y=[rounded(100 * share) for _, share in points],
                name=name,
                legendgroup=name,
                mode="lines",
                line={"width": 1.8, "shape": "hv"},
                meta={"series": series},
                hovertemplate=f"{name}: %{{y:.3g}} % up to %{{x:.4g}}<extra></extra>",
            )
        )
    unit = found[0][1].unit
    figure.update_layout(
        xaxis=log_axis(unit, drawn) if what.startswith("burst") else {"title": {"text": unit}},
        yaxis={"title": {"text": f"% of {found[0][1].counts}"}, "range": [0, 101]},
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    alt = f"{TITLES[what]} at {place}: share up to each value, a line for each {axis.name}."
    return finished(key, alt, 330, figure)
