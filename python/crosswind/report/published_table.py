"""Print published figures beside those of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from crosswind.analysis.published import PublishedComparison, PublishedFigures
from crosswind.stats import Interval, NeedsTrials, RatioInterval, RefusedComparison, RefusedInterval
from crosswind.text.console import widen
from crosswind.text.units import column_unit, number, short_names, times, units_of

if TYPE_CHECKING:
    from rich.console import Console

_DIRECTIONS = {
    "same": "[green]as published[/green]",
    "other": "[red]opposite[/red]",
    "unknown": "[dim]undecided[/dim]",
}


def print_published(figures: PublishedFigures, console: Console) -> None:
    """Print the figures."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    widen(console)
    short = short_names(dict.fromkeys((figures.baseline, *(row.condition for row in figures.rows))))
    console.print(f"[bold]Published and measured[/bold]  {escape(figures.source)}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("figure", overflow="fold")
    table.add_column("condition", overflow="fold")
    for head in ("unit", "published", "here", "published\ntimes baseline", "here\ntimes baseline"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("direction", no_wrap=True)
    above = ""
    for row in figures.rows:
        if above and row.figure != above:
            table.add_section()
        is_baseline = row.condition == figures.baseline
        table.add_row(
            escape("" if row.figure == above else row.figure),
            escape(short[row.condition]),
            *_cells(row, is_baseline),
        )
        above = row.figure
    console.print(table, soft_wrap=False)
    for line in _reading(figures):
        console.print(line, style="dim", markup=False, soft_wrap=False)


def _cells(row: PublishedComparison, is_baseline: bool) -> list[str]:
    estimate = None if row.here is None else row.here.estimate
    unit = column_unit((row.published, estimate), units_of("" if row.unit == "1" else row.unit))
    if is_baseline:
        return [unit.name, unit.show(row.published), _here(row, unit.show), "baseline", "baseline", ""]
    return [
        unit.name,
        unit.show(row.published),
        _here(row, unit.show),
        times(row.published_times),
        _times(row),
        "" if row.published_times is None else _DIRECTIONS[row.direction],
    ]


def _here(row: PublishedComparison, show: Callable[[float | None], str]) -> str:
    if row.here is None:
        return "-"
    shown = show(row.here.estimate)
    if isinstance(row.here, Interval):
        return f"{shown}\n[dim]{show(row.here.low)} - {show(row.here.high)}[/dim]"
    return f"{shown}\n[yellow]refused[/yellow]" if isinstance(row.here, RefusedInterval) else shown


def _times(row: PublishedComparison) -> str:
    ratio = row.here_times
    if ratio is None:
        return "-"
    shown = times(ratio.estimate)
    if isinstance(ratio, RatioInterval):
        return f"{shown}\n[dim]{number(ratio.low)} - {number(ratio.high)}[/dim]"
    return f"{shown}\n[yellow]refused[/yellow]" if isinstance(ratio, RefusedComparison) else shown


def _reading(figures: PublishedFigures) -> list[str]:
    """Return how to read the table, and what is missing in it."""
    lines = [
        "here: median over trials, with its 95 % interval where there are enough trials. direction: "
        "whether the interval of the ratio here lies on the same side of 1 as the published ratio. Rows are "
        "not corrected for their number: of 100 rows without a difference, about 5 show a direction."
    ]
    needs = [row.here for row in figures.rows if isinstance(row.here, NeedsTrials)]
    if needs:
        lines.append(f"An interval needs {max(found.needed for found in needs)} trials of a condition.")
    lacking = dict.fromkeys(f"{row.figure} ({_why(row)})" for row in figures.rows if row.here is None)
    if lacking:
        lines.append(f"Not measured here: {', '.join(lacking)}.")
    return lines


def _why(row: PublishedComparison) -> str:
    if row.measured_unit is None or row.measured_unit == row.unit:
        return "no counted trial has it"
    return f"published in {row.unit}, measured in {row.measured_unit}: write its unit under `published`"
