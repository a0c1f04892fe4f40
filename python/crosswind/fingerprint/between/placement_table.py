"""The figures of pairs by placement as a table: same host, other host, other tenant."""

from __future__ import annotations

from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.table import Table

from crosswind.analysis.osmef.placement import MachineLabels, PlacementFigure, PlacementRow, by_placement
from crosswind.fingerprint.between.document import BetweenDocument, PairFigures
from crosswind.stats import Interval, RatioInterval
from crosswind.text.console import widen
from crosswind.text.quantities import rate_text, time_text
from crosswind.text.units import number, times

# Of a pair, by their titles, and how each is shown.
FIGURES: dict[str, tuple[Callable[[PairFigures], float | None], Callable[[float], str]]] = {
    "one way": (lambda it: it.delay_ns, time_text),
    "jitter": (lambda it: it.jitter_ns, time_text),
    "round trip": (lambda it: it.round_trip_ns, time_text),
    "TCP": (lambda it: it.goodput_bps, rate_text),
}


def placement_rows(document: BetweenDocument) -> list[PlacementRow]:
    """Return the figures by placement; none where the inventory places no machines."""
    labels = {machine.name: MachineLabels(machine.host, machine.tenant) for machine in document.machines}
    values = {
        (pair.source, pair.target): {
            name: value for name, (read, _) in FIGURES.items() if (value := read(pair)) is not None
        }
        for pair in document.pairs
        if pair.ended is None
    }
    return by_placement(labels, values)


def print_placements(document: BetweenDocument, console: Console) -> None:
    """Print the table, where there is one."""
    rows = placement_rows(document)
    if not rows:
        return
    widen(console)
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    shown.add_column("placement", no_wrap=True)
    for head in ("pairs", *FIGURES):
        shown.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(
            row.placement,
            str(row.pairs),
            *(figure_text(row.figures.get(name), show) for name, (_, show) in FIGURES.items()),
        )
        shown.add_section()
    console.print(shown, soft_wrap=False)
    for line in reading(rows):
        console.print(line, style="dim", markup=False)


def figure_text(figure: PlacementFigure | None, show: Callable[[float], str]) -> str:
    """Return a figure in up to three lines: median, its interval or range, and the ratio to the first row."""
    if figure is None or figure.over.median.estimate is None:
        return "-"
    median, lines = figure.over.median, [show(figure.over.median.estimate)]
    if isinstance(median, Interval):
        lines.append(f"{show(median.low)} - {show(median.high)}")
    elif figure.over.least != figure.over.greatest:
        lines.append(f"{show(figure.over.least)} .. {show(figure.over.greatest)}")
    if isinstance(figure.ratio, RatioInterval):
        ratio = figure.ratio
        lines.append(f"{times(ratio.estimate)} ({number(ratio.low)} - {number(ratio.high)})")
    elif figure.ratio is not None and figure.ratio.estimate is not None:
        lines.append(f"{times(figure.ratio.estimate)} (no interval)")
    return "\n".join(lines)


def reading(rows: list[PlacementRow]) -> list[str]:
    """Return how to read the table."""
    return [
        "Each pair of machines counts once, with the mean of both directions. Below the median: its 95 % "
        "interval (low - high), or with fewer than 6 pairs the range (least .. greatest).",
        *(
            [f"Last line: ratio to {rows[0].placement}, with its 95 % interval from 4 pairs a side on."]
            if len(rows) > 1
            else []
        ),
    ]
