"""The first picture: each trial's P50 and P99 on one logarithmic axis, a strip per row of the summary table.

Plain SVG that takes its colours from the page: it needs no script, prints well, and is there before anything
else.
"""

import math
from dataclasses import dataclass

from markupsafe import Markup

from crosswind.report.summary import ConditionSummary, Summary
from crosswind.report.units import duration
from crosswind.stats import Interval

WIDTH, HEIGHT, MARGIN = 320, 34, 10


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis over whole decades, in ns."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Return where `value` lies, in units of the strip."""
        share = (math.log10(value) - math.log10(self.low)) / (math.log10(self.high) - math.log10(self.low))
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    @property
    def ticks(self) -> list[float]:
        """Powers of ten on the axis."""
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        return [10.0**power for power in range(first, last + 1)]


def axis(summary: Summary) -> Axis | None:
    """Return the axis that holds every trial's P50 and P99, None if there is none."""
    values = [
        trial.latency_ns[q]
        for condition in summary.conditions
        for trial in condition.counted
        for q in ("p50", "p99")
        if 0 < trial.latency_ns.get(q, 0) < math.inf
    ]
    if not values:
        return None
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(10.0**low, 10.0 ** max(high, low + 1))


def header(scale: Axis) -> Markup:
    """Return the axis with its ticks labelled."""
    labels = "".join(
        f'<text x="{scale.x(tick)}" y="13" text-anchor="{anchor}">{_tick(tick)}</text>'
        for tick, anchor in _anchored(scale)
    )
    return Markup(f'<svg class="strip axis" viewBox="0 0 {WIDTH} 18" aria-hidden="true">{labels}</svg>')


def row(scale: Axis, condition: ConditionSummary) -> Markup:
    """Return the strip of one condition: intervals as bands, medians as bars, trials as dots."""
    middle = HEIGHT / 2
    grid = "".join(_line("grid", scale.x(tick), 0, HEIGHT) for tick in scale.ticks)
    marks = ""
    for q, shape in (("p50", _dot), ("p99", _diamond)):
        estimate = condition.latency_ns[q]
        if isinstance(estimate, Interval) and math.isfinite(estimate.high):
            left, right = scale.x(estimate.low), scale.x(estimate.high)
            marks += (
                f'<rect class="{q} band" x="{left}" y="{middle - 9}" height="18" rx="3" '
                f'width="{round(max(right - left, 1), 1)}"/>'
            )
        if estimate.estimate is not None:
            marks += _line(f"{q} median", scale.x(estimate.estimate), middle - 11, middle + 11)
        marks += "".join(
            shape(q, scale.x(trial.latency_ns[q]), middle)
            for trial in condition.counted
            if q in trial.latency_ns
        )
    said = ", ".join(f"{q.upper()} {duration(condition.latency_ns[q].estimate)}" for q in ("p50", "p99"))
    box = f"0 0 {WIDTH} {HEIGHT}"
    return Markup(f'<svg class="strip" viewBox="{box}" role="img" aria-label="{said}">{grid}{marks}</svg>')


def _tick(value: float) -> str:
    return duration(value).replace(".00", "").replace(".0", "")


def _anchored(scale: Axis) -> list[tuple[float, str]]:
    last = len(scale.ticks) - 1
    anchors = ["start" if i == 0 else "end" if i == last else "middle" for i in range(last + 1)]
    return list(zip(scale.ticks, anchors, strict=True))


def _line(css: str, x: float, top: float, bottom: float) -> str:
    return f'<line class="{css}" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'


def _dot(css: str, x: float, y: float) -> str:
    return f'<circle class="{css} trial" cx="{x}" cy="{y}" r="4"/>'


def _diamond(css: str, x: float, y: float) -> str:
    return f'<path class="{css} trial" d="M{x} {y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z"/>'
