"""Draw the first picture: the number of each trial on a common axis, a strip for each row of the summary
table.

The numbers are P50 and P99 of operations, otherwise the application's first figure. Plain SVG with the
colours of the page needs no script, prints well, and appears first.
"""

import math
from dataclasses import dataclass

from markupsafe import Markup

from crosswind.analysis.measure import Measure
from crosswind.analysis.summary import ConditionSummary, Summary
from crosswind.stats import Interval
from crosswind.text.units import column_unit, quantity, units_of

WIDTH, HEIGHT, MARGIN = 320, 34, 10
# Within this span a linear axis has more useful ticks than one or two powers of ten.
LINEAR_SPAN = 4.0


@dataclass(frozen=True)
class StripAxis:
    """The common axis of the strips.

    Attributes:
        measures: one or two of the same unit; the first is drawn as dots, the second as diamonds.
        ticks: from the lowest value to the highest one, in the unit of the measures.
    """

    measures: tuple[Measure, ...]
    ticks: tuple[float, ...]
    logarithmic: bool

    def x(self, value: float) -> float:
        """Return the place of `value`, in units of the strip."""
        low, at, high = (
            math.log10(v) if self.logarithmic else v for v in (self.ticks[0], value, self.ticks[-1])
        )
        return round(MARGIN + (at - low) / (high - low) * (WIDTH - 2 * MARGIN), 1)


def axis(summary: Summary) -> StripAxis | None:
    """Return the axis for all counted trials; None without any value."""
    measures = _measures(summary)
    values = [
        trial.values[measure.key]
        for condition in summary.conditions
        for trial in condition.counted
        for measure in measures
        if math.isfinite(trial.values.get(measure.key, math.inf))
    ]
    if not values:
        return None
    low, high = min(values), max(values)
    if low > 0 and high > LINEAR_SPAN * low:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        return StripAxis(measures, tuple(10.0**power for power in powers), True)
    return StripAxis(measures, _round_steps(low, high), False)


def header(scale: StripAxis) -> Markup:
    """Return the axis with its ticks labelled."""
    unit = column_unit(scale.ticks, units_of(scale.measures[0].unit))
    texts = [
        _power(tick, scale.measures[0].unit) if scale.logarithmic else f"{tick / unit.size:g}"
        for tick in scale.ticks
    ]
    if not scale.logarithmic:
        texts[-1] += f"\u00a0{unit.name}".rstrip()
    if len(texts) > 4:  # on a narrow screen all of them would touch
        texts[1::2] = [""] * len(texts[1::2])
    anchors = ["start", *["middle"] * (len(texts) - 2), "end"]
    labels = "".join(
        f'<text x="{scale.x(tick)}" y="13" text-anchor="{anchor}">{text}</text>'
        for tick, anchor, text in zip(scale.ticks, anchors, texts, strict=True)
    )
    return Markup(f'<svg class="strip axis" viewBox="0 0 {WIDTH} 18" aria-hidden="true">{labels}</svg>')


def row(scale: StripAxis, condition: ConditionSummary) -> Markup:
    """Return the strip of one condition: intervals as bands, medians as bars, trials as dots."""
    middle = HEIGHT / 2
    grid = "".join(_line("grid", scale.x(tick), 0, HEIGHT) for tick in scale.ticks)
    marks = ""
    for measure, css, shape in zip(scale.measures, ("first", "second"), (_dot, _diamond), strict=False):
        estimate = condition.estimates[measure.key]
        if isinstance(estimate, Interval) and math.isfinite(estimate.high):
            left, right = scale.x(estimate.low), scale.x(estimate.high)
            marks += (
                f'<rect class="{css} band" x="{left}" y="{middle - 9}" height="18" rx="3" '
                f'width="{round(max(right - left, 1), 1)}"/>'
            )
        if estimate.estimate is not None:
            marks += _line(f"{css} median", scale.x(estimate.estimate), middle - 11, middle + 11)
        marks += "".join(
            shape(css, scale.x(trial.values[measure.key]), middle)
            for trial in condition.counted
            if measure.key in trial.values
        )
    said = ", ".join(
        f"{measure.title} {quantity(condition.estimates[measure.key].estimate, measure.unit)}"
        for measure in scale.measures
    )
    start = Markup('<svg class="strip" viewBox="0 0 {} {}" role="img" aria-label="{}">')
    return start.format(WIDTH, HEIGHT, said) + Markup(f"{grid}{marks}</svg>")


def _measures(summary: Summary) -> tuple[Measure, ...]:
    tails = tuple(m for m in summary.measures if m.of_operations and m.statistic in ("p50", "p99"))
    return tails if summary.primary.of_operations and len(tails) == 2 else (summary.primary,)


def _round_steps(low: float, high: float) -> tuple[float, ...]:
    """Return three to five round, equidistant numbers from at most `low` to at least `high`."""
    spread = high - low or abs(high) / 2 or 1.0
    power = 10.0 ** math.floor(math.log10(spread))
    step = next(power * size for size in (0.5, 1, 2, 5) if spread <= 2.5 * power * size)
    first, last = math.floor(low / step), math.ceil(high / step)
    last = max(last, first + 1)
    return tuple(index * step for index in range(first, last + 1))


def _power(value: float, unit: str) -> str:
    return quantity(value, unit).replace(".00", "").replace(".0", "")


def _line(css: str, x: float, top: float, bottom: float) -> str:
    return f'<line class="{css}" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>'


def _dot(css: str, x: float, y: float) -> str:
    return f'<circle class="{css} trial" cx="{x}" cy="{y}" r="4"/>'


def _diamond(css: str, x: float, y: float) -> str:
    return f'<path class="{css} trial" d="M{x} {y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z"/>'
