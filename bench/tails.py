"""Pictures of the distribution of lateness, each with its control.

Both axes are logarithmic. The first curve of a panel is the control; a vertical line can mark a target.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log10

import numpy as np
from numpy.typing import NDArray

COLOURS = ("#4b5563", "#0072b2", "#c4560b", "#00845f", "#8e44ad")  # The control is grey.
MARK = "#b91c1c"
LATE_US = (1, 1000)
SHARE = (1e-4, 1)
WIDTH, LEFT, RIGHT, BETWEEN, TOP, DEPTH = 900, 70, 20, 50, 50, 280
# Of a name below its panel, and of a row of names: no letter of a sans-serif is wider on average.
LETTER, GAP, ROW = 7.0, 16, 18

Lateness = NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        curves: values in us by name, two to five; each array has shape (n,), and the first is the control.
        mark: place of a vertical line in us, and its label.
    """

    title: str
    curves: Mapping[str, Lateness]
    mark: tuple[float, str] | None = None


def drawn(title: str, panels: Sequence[Panel], across: str) -> str:
    """Return the picture as SVG; `across` is the label of the horizontal axis."""
    width = (WIDTH - LEFT - RIGHT - BETWEEN * (len(panels) - 1)) / len(panels)
    height = TOP + DEPTH + 64 + ROW * max(len(rows(panel.curves, width)) for panel in panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' font-family="system-ui, sans-serif" font-size="13" fill="#1f2933">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, LEFT + number * (width + BETWEEN), width, with_shares=number == 0)
    parts.append(f'<text x="{LEFT}" y="{height - 12}">{across}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _panel(panel: Panel, left: float, width: float, *, with_shares: bool) -> list[str]:
    right, up = _scale(LATE_US, width), _scale(SHARE, DEPTH)
    bottom = TOP + DEPTH
    parts = [f'<text x="{left:.1f}" y="{TOP - 16}" font-weight="600">{panel.title}</text>']
    for tick_us in (1, 10, 100, 1000):
        x = left + right(tick_us)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#e6e9ec"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick_us}</text>')
    for share in (1e-4, 1e-3, 1e-2, 1e-1, 0.5, 1):
        y = bottom - up(share)
        parts.append(f'<path d="M{left:.1f} {y:.1f}H{left + width:.1f}" stroke="#e6e9ec"/>')
        if with_shares:
            parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{share * 100:g} %</text>')
    if panel.mark:
        late_us, says = panel.mark
        x = left + right(late_us)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="{MARK}" stroke-dasharray="4 3"/>')
        parts.append(f'<text x="{x + 4:.1f}" y="{bottom - 6}" fill="{MARK}">{says}</text>')
    for colour, values in zip(COLOURS, panel.curves.values(), strict=False):
        parts.append(_curve(values, colour, lambda us: left + right(us), lambda share: bottom - up(share)))
    colours = iter(COLOURS)
    for number, row in enumerate(rows(panel.curves, width)):
        y = bottom + 42 + ROW * number
        parts += [f'<text x="{left + x:.1f}" y="{y}" fill="{next(colours)}">{name}</text>' for x, name in row]
    return parts


def rows(names: Iterable[str], width: float) -> list[list[tuple[float, str]]]:
    """Return the names of the curves of a panel, each with its place, in the rows that they need below it.

    There no curve passes.
    """
    found: list[list[tuple[float, str]]] = []
    x = width
    for name in names:
        if x + LETTER * len(name) > width:
            found.append([])
            x = 0
        found[-1].append((x, name))
        x += LETTER * len(name) + GAP
    return found


def _scale(limits: tuple[float, float], length: float) -> Callable[[float], float]:
    low, high = (log10(limit) for limit in limits)
    return lambda value: (log10(max(value, limits[0])) - low) / (high - low) * length


def _curve(values: Lateness, colour: str, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    shares = np.geomspace(1, max(SHARE[0], 1 / values.size), 200)
    late_us = np.quantile(values, 1 - shares)
    points = " ".join(
        f"{x(late):.1f},{y(share):.1f}"
        for late, share in zip(late_us, shares, strict=True)
        if late <= LATE_US[1]
    )
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
