"""Pictures of the network over time: the offered interference, and the dropped packets."""

from collections import Counter

import plotly.graph_objects as go

from crosswind.analysis.summary import ConditionSummary, Summary
from crosswind.results.reading import Results
from crosswind.spec.network import ARROW, Network
from crosswind.spec.resolved import Resolved
from crosswind.text.picture import Picture, finished, rounded

BINS = 60  # of a trial's time axis
SECONDS_AXIS = {"title": {"text": "s since the trial began"}, "rangemode": "tozero"}


def network_figures(summary: Summary, results: Results) -> list[Picture]:
    """Return a picture of interference and one of drops for each condition that has any."""
    uplinks = _uplinks(summary.resolved)
    offered = {
        condition.name: {
            # A draw without a limit sends at the rate of the uplink.
            trial.row.trial: [
                (source, at, uplinks.get(source.split(ARROW)[0], 0) if rate is None else rate)
                for source, at, rate in results.interference(trial.row.trial)
            ]
            for trial in condition.counted
        }
        for condition in summary.conditions
    }
    draws = [row for trials in offered.values() for rows in trials.values() for row in rows]
    highest = max((rate for _, _, rate in draws), default=0)
    figures = []
    for number, condition in enumerate(summary.conditions):
        if any(offered[condition.name].values()):
            figures.append(_interference(results, condition, number, offered[condition.name], highest))
        drops = _drops(results, condition, number)
        if drops is not None:
            figures.append(drops)
    return figures


def _uplinks(resolved: Resolved) -> dict[str, int]:
    """Return the rate of each host's uplink; empty where results have no network."""
    uplinks = Network.of(resolved.topology).uplinks
    return {host: uplink.rate_bps or 0 for host, uplink in uplinks.items()}


def place_of(element: str) -> str:
    """Return the place in the name of an element, `switch.ingress` of `h0/switch.ingress/0:police`."""
    parts = element.split("/")
    return parts[1] if len(parts) > 1 else element


def _interference(
    results: Results,
    condition: ConditionSummary,
    number: int,
    offered: dict[str, list[tuple[str, int, float]]],
    highest_bps: float,
) -> Picture:
    """Draw a step line for each trial and source; all conditions share an axis up to `highest_bps`."""
    figure = go.Figure()
    for trial, rows in offered.items():
        begin, end = _window(results, trial, [at for _, at, _ in rows])
        for source in sorted({row[0] for row in rows}):
            draws = [(at, rate) for name, at, rate in rows if name == source]
            # A draw lasts until the next one, and the last one until the end of the trial.
            seconds = [rounded((at - begin) / 1e9) for at, _ in draws] + [rounded((end - begin) / 1e9)]
            rates = [rounded(rate / 1e6) for _, rate in draws]
            figure.add_trace(
                go.Scatter(
                    x=seconds,
                    y=[*rates, rates[-1]],
                    name=f"{trial} {source}",
                    mode="lines",
                    line={"shape": "hv", "width": 1.2},
                    opacity=0.75,
                    showlegend=False,
                    meta={"series": number},
                    hovertemplate=f"{trial}, {source}: %{{y:.4g}} Mbit/s<extra></extra>",
                )
            )
    figure.update_layout(
        xaxis=SECONDS_AXIS,
        yaxis={"title": {"text": "Mbit/s"}, "range": [0, rounded(1.05 * highest_bps / 1e6)]},
    )
    alt = f"Interference offered over time under {condition.name}, one line per trial and source."
    return finished(f"interference-{number}", alt, 210, figure)


def _drops(results: Results, condition: ConditionSummary, number: int) -> Picture | None:
    """Draw recorded drops by place and reason, added up over trials; None if there were none."""
    recorded = {trial.row.trial: results.drops(trial.row.trial) for trial in condition.counted}
    windows = {
        trial: _window(results, trial, [row.at_ns for row in rows])
        for trial, rows in recorded.items()
        if rows
    }
    if not windows:
        return None
    step_s = max(end - begin for begin, end in windows.values()) / 1e9 / BINS or 1.0
    bars: dict[str, Counter[int]] = {}
    for trial, (begin, _) in windows.items():
        for row in recorded[trial]:
            label = f"{place_of(row.element)}: {row.reason}"
            bars.setdefault(label, Counter())[int((row.at_ns - begin) / 1e9 / step_s)] += 1
    figure = go.Figure()
    for offset, (label, counts) in enumerate(sorted(bars.items())):
        bins = sorted(counts)
        figure.add_trace(
            go.Bar(
                x=[rounded((index + 0.5) * step_s) for index in bins],
                y=[counts[index] for index in bins],
                width=step_s,
                name=label,
                meta={"series": number + offset},
                hovertemplate=f"{label}, %{{x:.3g}} s: %{{y}} packets<extra></extra>",
            )
        )
    tallest = sum((counts for counts in bars.values()), Counter[int]()).most_common(1)[0][1]
    figure.update_layout(
        barmode="stack",
        bargap=0,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis=SECONDS_AXIS | {"range": [0, rounded(BINS * step_s)]},
        # Packets are whole numbers: a short axis has a label for each.
        yaxis={"title": {"text": "packets"}, "rangemode": "tozero"} | ({"dtick": 1} if tallest <= 5 else {}),
    )
    alt = f"Packets dropped over time under {condition.name}, by place and reason."
    return finished(f"drops-{number}", alt, 230, figure)


def _window(results: Results, trial: str, instants_ns: list[int]) -> tuple[int, int]:
    """Return when the trial was measured from and to, in ns; by its records where the measurement is
    missing."""
    measurement = results.measurement(trial)
    if measurement is None:
        return instants_ns[0], instants_ns[-1]
    return measurement.window.started_ns, measurement.window.ended_ns
