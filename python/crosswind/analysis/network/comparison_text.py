"""Print a comparison of two fingerprints: the answer first, then a row for each figure."""

from __future__ import annotations

import math

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crosswind.analysis.network.comparison import FigureChange, FigureComparison, FingerprintComparison
from crosswind.analysis.network.figures import AtLeast, Found, Margin
from crosswind.stats import Alike, Bounded
from crosswind.text.change import change as change_of
from crosswind.text.change import change_interval
from crosswind.text.console import widen
from crosswind.text.units import Unit, column_unit, quantity, units_of

_STYLES: dict[Alike, str] = {"same": "green", "different": "red", "undecided": "dim"}
READING = (
    "Below a value: its 95 % interval, from this one measurement. same: the whole interval of the change is "
    "within the margin; different: all of it is outside."
)


def print_fingerprints(comparison: FingerprintComparison, console: Console) -> None:
    """Print a comparison."""
    widen(console)
    console.print(answer(comparison), markup=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("figure", overflow="fold")
    for header in ("base", "other", "change", "margin"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for found in comparison.figures:
        table.add_row(escape(found.figure.title), *_cells(found))
    console.print(table, soft_wrap=False)
    console.print(READING, style="dim", markup=False)
    for note in comparison.notes:
        console.print(f"[bold yellow]![/bold yellow] {escape(note)}", soft_wrap=False)


def answer(comparison: FingerprintComparison) -> str:
    """Return the answer in a sentence."""
    verdict, figures = comparison.verdict, len(comparison.figures)
    if verdict == "same":
        return f"The same: all of {figures} figures."
    named = comparison.named(verdict)
    return f"{verdict.capitalize()}: {len(named)} of {figures} figures: {', '.join(named)}."


def unit_of(found: FigureComparison) -> Unit:
    """Return the unit that both values of a figure are shown in."""
    sides = [side for side in (found.base, found.other) if side is not None]
    values = [side.value if isinstance(side, Bounded) else side.at_least for side in sides]
    return column_unit(values, units_of(found.figure.unit))


def sides_text(found: FigureComparison) -> tuple[str, str]:
    """Return the values of a figure in the base and in the other."""
    unit = unit_of(found)
    return value_text(found.base, unit)[0], value_text(found.other, unit)[0]


def value_text(found: Found, unit: Unit) -> tuple[str, str]:
    """Return a value and its interval; `-` and an empty text where there is none."""
    if isinstance(found, AtLeast):
        return f"at least {unit.show(found.at_least)} {unit.name}", ""
    if found is None:
        return "-", ""
    return f"{unit.show(found.value)} {unit.name}", interval_text(found, unit)


def interval_text(found: Bounded, unit: Unit) -> str:
    """Return an interval, whose ends may be unknown."""
    low, high = (unit.show(end) if math.isfinite(end) else "" for end in (found.low, found.high))
    return f"{low or 'unknown'} - {high or 'unknown'}"


def change_text(change: FigureChange, unit: str) -> tuple[str, str]:
    """Return a change and its interval."""
    if change.kind == "ratio":
        found = change.interval
        return change_of(found.value), change_interval(found.low, found.high)
    shown = column_unit([abs(change.interval.value), change.most], units_of(unit))
    value, interval = value_text(change.interval, shown)
    return f"{'+' if change.interval.value > 0 else ''}{value}", interval


def margin_text(margin: Margin, unit: str) -> str:
    """Return a margin."""
    parts = [f"{100 * margin.share:g} %"] if margin.share else []
    return " + ".join([*parts, quantity(margin.absolute, unit)] if margin.absolute else parts)


def _cells(found: FigureComparison) -> list[str]:
    unit = unit_of(found)
    texts = [value_text(side, unit) for side in (found.base, found.other)]
    texts.append(("-", "") if found.change is None else change_text(found.change, found.figure.unit))
    verdict = f"[{_STYLES[found.verdict]}]{found.verdict}[/]"
    return [
        *(f"{text}\n[dim]{interval}[/dim]" if interval else text for text, interval in texts),
        margin_text(found.figure.margin, found.figure.unit),
        f"{verdict}\n[dim]{found.why}[/dim]" if found.why else verdict,
    ]
