"""Common parts of all pictures: plotly figures without colours, with rounded numbers and wrapped names.

The page adds the colours of its light or dark theme; a trace has the number of its condition in
`meta.series`. Values are rounded to four digits: no screen shows the difference, and the page is half as
large.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import plotly.graph_objects as go

from crosswind.text.units import wrapped

LABEL_COLUMNS = 26  # leaves room for the picture on a small screen
ROW = 0.66  # of the height of a row that its box and its trials take


@dataclass(frozen=True)
class Picture:
    """A drawing, and its content in words."""

    key: str
    alt: str
    height_px: int
    spec: dict[str, object]  # data and layout as plotly.js takes them


def finished(key: str, alt: str, height_px: int, figure: go.Figure) -> Picture:
    """Return `figure` as the page takes it."""
    plain = figure.to_plotly_json()
    plain["layout"].pop("template", None)  # seven kilobytes of colours that the page does not use
    return Picture(key, alt, height_px, plain)


def log_axis(title: str, values: Iterable[float]) -> dict[str, object]:
    """Return a logarithmic axis for `values` with a margin, labelled with whole numbers.

    Labels are at powers of ten, or at 1, 2 and 5 where there are few. Within a decade plotly places them,
    since the axis may have no 1, 2 or 5.
    """
    known = [value for value in values if 0 < value < math.inf] or [1.0]
    low, high = math.log10(min(known)), math.log10(max(known))
    room = 0.04 * (high - low) + 0.03
    span = high - low + 2 * room
    steps: dict[str, object] = {"dtick": 1} if high - low > 2 else {"dtick": "D2"} if span > 1 else {}
    return {
        "type": "log",
        "title": {"text": title},
        "range": [low - room, high + room],
        # Without this format, a label between powers of ten is a single digit: 5, 100, 2, 5.
        "tickformat": ",~r",
        **steps,
    }


def value_axis(title: str, values: Iterable[float]) -> dict[str, object]:
    """Return an axis for `values`: logarithmic if they span more than a factor of 4, else from 0.

    An axis that does not begin at 0 makes a small difference look large.
    """
    values = list(values)
    if values and min(values) > 0 and max(values) > 4 * min(values):
        return log_axis(f"{title}, logarithmic", values)
    return {"title": {"text": title}, "rangemode": "tozero"}


def condition_label(name: str) -> str:
    """Return a condition's name as a label of an axis."""
    return "<br>".join(wrapped(name, LABEL_COLUMNS))


def row_axis(names: Iterable[str]) -> dict[str, object]:
    """Return an axis with a row for each condition; the first is 0, at the top."""
    labels = [condition_label(name) for name in names]
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": labels,
        "range": [len(labels) - 0.5, -0.5],
        "showgrid": False,
    }


def row_places(row: int, trials: int) -> list[float]:
    """Return the positions of trials in a row, the first at the top: a drift is then visible as a slope."""
    if trials == 1:
        return [row]
    return [rounded(row + ROW * (place / (trials - 1) - 0.5)) for place in range(trials)]


def dot_px(trials: int) -> int:
    """Return the size of the dots of trials: many dots must not hide the box behind them."""
    return 9 if trials <= 20 else 5


def rounded(value: float) -> float:
    """Return `value` with four significant digits."""
    return float(f"{value:.4g}")


def milliseconds(value_ns: float) -> float:
    """Return a duration in ns as milliseconds, rounded for a drawing."""
    return rounded(value_ns / 1e6)
