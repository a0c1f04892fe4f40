"""The pictures of the report, as plotly figures without colours: the page adds those of its light or dark
theme.

A trace says in `meta.series` which colour it wants: the number of its condition. Values are rounded to four
digits, which no screen can tell from the exact ones and which halves the page.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from crosswind.report.curves import ConditionCurves
from crosswind.report.folder import ResultsFolder
from crosswind.report.summary import ConditionSummary, Summary
from crosswind.report.units import short_names
from crosswind.stats import Curve

DASHES = ("solid", "dot")  # the second half of the palette is told apart without colour, too
PALETTE = 10
BINS = 60  # of a trial's time axis


@dataclass(frozen=True)
class Figure:
    """A drawing and the words that say the same."""

    key: str
    alt: str
    height_px: int
    spec: dict[str, Any]  # data and layout as plotly.js takes them


def latency_boxes(summary: Summary, curves: dict[str, ConditionCurves]) -> Figure:
    """Draw a box per condition, with each trial's P99 beside it: the box alone hides the tail."""
    short = short_names(condition.name for condition in summary.conditions)
    figure = go.Figure()
    for number, condition in enumerate(summary.conditions):
        box = curves[condition.name].pooled
        label = _wrapped(short[condition.name])
        if box is not None:
            figure.add_trace(
                go.Box(
                    orientation="h", y=[label], name=label, showlegend=False, meta={"series": number},
                    q1=[_ms(box.q1)], median=[_ms(box.median)], q3=[_ms(box.q3)],
                    lowerfence=[_ms(box.whisker_low)], upperfence=[_ms(box.whisker_high)],
                )
            )  # fmt: skip
        p99 = [trial.latency_ns["p99"] for trial in condition.counted if "p99" in trial.latency_ns]
        figure.add_trace(
            go.Scatter(
                x=[_ms(value) for value in p99], y=[label] * len(p99), mode="markers",
                marker={"symbol": "diamond-open", "size": 9, "line": {"width": 2}}, name="P99 of a trial",
                showlegend=False, meta={"series": number},
                hovertemplate="P99 of a trial: %{x:.4g} ms<extra></extra>",
            )
        )  # fmt: skip
    figure.update_layout(
        xaxis={"type": "log", "title": {"text": "latency (ms, logarithmic)"}},
        yaxis={"autorange": "reversed", "type": "category"},
    )
    alt = "Box plots of latency by condition on a logarithmic axis; the numbers stand in the summary table."
    return _figure("boxes", alt, 110 + 46 * len(summary.conditions), figure)


def latency_ccdf(summary: Summary, curves: dict[str, ConditionCurves]) -> Figure:
    """Draw how often a latency is exceeded, a line per trial."""
    figure = _curves(summary, {n: [(t.trial, t.ccdf) for t in c.trials] for n, c in curves.items()})
    figure.update_layout(
        xaxis={"type": "log", "title": {"text": "latency x (ms, logarithmic)"}},
        yaxis={"type": "log", "title": {"text": "share of operations slower than x"}, "tickformat": "~%"},
    )
    return _figure(
        "ccdf",
        "Complementary distribution of latency, one line per trial, both axes logarithmic.",
        520,
        figure,
    )


def latency_ecdf(summary: Summary, curves: dict[str, ConditionCurves]) -> Figure:
    """Draw the share of operations that are at most so slow, a line per trial."""
    figure = _curves(summary, {n: [(t.trial, t.ecdf) for t in c.trials] for n, c in curves.items()})
    figure.update_layout(
        xaxis={"type": "log", "title": {"text": "latency x (ms, logarithmic)"}},
        yaxis={"title": {"text": "share of operations up to x"}, "tickformat": "~%", "range": [0, 1.01]},
    )
    return _figure(
        "ecdf", "Distribution of latency, one line per trial, latency on a logarithmic axis.", 480, figure
    )


def throughput_dots(summary: Summary) -> Figure:
    """Draw each trial's throughput as a dot, so that spread between trials is seen and not averaged away."""
    short = short_names(condition.name for condition in summary.conditions)
    figure = go.Figure()
    for number, condition in enumerate(summary.conditions):
        label = _wrapped(short[condition.name])
        known = [trial for trial in condition.counted if trial.throughput_per_s is not None]
        figure.add_trace(
            go.Scatter(
                x=[_round(trial.throughput_per_s or 0) for trial in known], y=[label] * len(known), mode="markers",
                name=label, text=[trial.row.trial for trial in known], showlegend=False, meta={"series": number},
                marker={"size": 11, "opacity": 0.8}, hovertemplate="%{text}: %{x:.4g} operations/s<extra></extra>",
            )
        )  # fmt: skip
    figure.update_layout(
        xaxis={"type": "log", "title": {"text": "operations per second (logarithmic)"}},
        yaxis={"autorange": "reversed", "type": "category"},
    )
    alt = "Operations per second of each trial, by condition, on a logarithmic axis."
    return _figure("throughput", alt, 110 + 40 * len(summary.conditions), figure)


def interference_over_time(results: ResultsFolder, condition: ConditionSummary, number: int) -> Figure | None:
    """Draw the interference that was offered, a line per trial and source, or nothing if there was none."""
    figure = go.Figure()
    for trial in condition.counted:
        rows = results.interference(trial.row.trial)
        window = _window(results, trial.row.trial) or (rows[0][1], rows[-1][1]) if rows else None
        for source in sorted({row[0] for row in rows}):
            assert window is not None
            mine = [(at, rate) for name, at, rate in rows if name == source]
            # A draw holds until the next one, and the last one until the end of the trial.
            seconds = [_round((at - window[0]) / 1e9) for at, _ in mine] + [
                _round((window[1] - window[0]) / 1e9)
            ]
            rates = [_round(rate / 1e6) for _, rate in mine]
            figure.add_trace(
                go.Scatter(
                    x=seconds, y=[*rates, rates[-1]], mode="lines", name=f"{trial.row.trial} {source}",
                    line={"shape": "hv", "width": 1.2}, opacity=0.75, meta={"series": number}, showlegend=False,
                    hovertemplate=f"block {trial.row.block}, {source}: %{{y:.4g}} Mbit/s<extra></extra>",
                )
            )  # fmt: skip
    if not figure.data:
        return None
    figure.update_layout(
        xaxis={"title": {"text": "s since the trial began"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "Mbit/s"}, "rangemode": "tozero"},
    )
    alt = f"Interference offered over time under {condition.name}, one line per trial and source."
    return _figure(f"interference-{number}", alt, 210, figure)


def drops_over_time(results: ResultsFolder, condition: ConditionSummary, number: int) -> Figure | None:
    """Draw recorded drops by place and reason over time, added up over trials, or nothing if there were "
    "none."""
    bars: dict[str, Counter[int]] = {}
    step_s = _bin_s(_window(results, trial.row.trial) for trial in condition.counted)
    for trial in condition.counted:
        rows = results.drops(trial.row.trial)
        window = _window(results, trial.row.trial) or (rows[0].at_ns, rows[-1].at_ns) if rows else None
        for row in rows:
            assert window is not None
            label = f"{place_of(row.element)}: {row.reason}"
            bars.setdefault(label, Counter())[int((row.at_ns - window[0]) / 1e9 / step_s)] += 1
    if not bars:
        return None
    figure = go.Figure()
    for offset, (label, counts) in enumerate(sorted(bars.items())):
        bins = sorted(counts)
        figure.add_trace(
            go.Bar(
                x=[_round((index + 0.5) * step_s) for index in bins], y=[counts[index] for index in bins],
                width=step_s, name=label, meta={"series": number + offset},
                hovertemplate=f"{label}, %{{x:.3g}} s: %{{y}} packets<extra></extra>",
            )
        )  # fmt: skip
    figure.update_layout(
        barmode="stack", bargap=0, showlegend=True, legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": {"text": "s since the trial began"}, "rangemode": "tozero"}, yaxis={"title": {"text": "packets"}},
    )  # fmt: skip
    alt = f"Packets dropped over time under {condition.name}, by place and reason."
    return _figure(f"drops-{number}", alt, 230, figure)


def place_of(element: str) -> str:
    """Return the place in the name of an element, `switch.ingress` of `h0/switch.ingress/0:police`."""
    parts = element.split("/")
    return parts[1] if len(parts) > 1 else element


def _curves(summary: Summary, curves: dict[str, list[tuple[str, Curve]]]) -> go.Figure:
    short = short_names(condition.name for condition in summary.conditions)
    figure = go.Figure()
    for number, condition in enumerate(summary.conditions):
        for position, (trial, curve) in enumerate(curves[condition.name]):
            figure.add_trace(
                go.Scatter(
                    x=[_ms(value) for value in curve.value], y=[_round(share) for share in curve.share],
                    mode="lines", line={"width": 1.3, "shape": "hv", "dash": DASHES[number // (PALETTE // 2) % 2]},
                    name=short[condition.name], legendgroup=condition.name, showlegend=position == 0,
                    meta={"series": number}, hovertemplate=f"{trial}<br>%{{x:.4g}} ms: %{{y:.4~%}}<extra></extra>",
                )
            )  # fmt: skip
    figure.update_layout(legend={"orientation": "h", "y": -0.2, "yanchor": "top"}, hovermode="closest")
    return figure


def _window(results: ResultsFolder, trial: str) -> tuple[int, int] | None:
    window = results.measurement(trial).get("window") or {}
    if "started_ns" not in window or "ended_ns" not in window:
        return None
    return int(window["started_ns"]), int(window["ended_ns"])


def _bin_s(windows: Iterable[tuple[int, int] | None]) -> float:
    longest = max((end - begin for begin, end in filter(None, windows)), default=BINS * 1_000_000_000)
    return max(longest, 1) / 1e9 / BINS


def _figure(key: str, alt: str, height_px: int, figure: go.Figure) -> Figure:
    plain = figure.to_plotly_json()
    plain["layout"].pop("template", None)  # seven kilobytes of colours that the page does not use
    return Figure(key, alt, height_px, plain)


def _wrapped(label: str, columns: int = 26) -> str:
    """Return `label` broken at hyphens so that it leaves room for the picture on a small screen."""
    lines = [""]
    for part in label.replace("-", "-\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > columns:
            lines.append("")
        lines[-1] += part
    return "<br>".join(lines)


def _ms(value_ns: float) -> float:
    return _round(value_ns / 1e6)


def _round(value: float) -> float:
    return float(f"{value:.4g}")
