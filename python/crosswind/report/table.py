"""The summary as a table for a terminal.

Plain text where the output is not a terminal, uncoloured where NO_COLOR is set: rich sees to both.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from crosswind.report.cautions import cautions
from crosswind.report.summary import (
    QUANTILE_NAMES,
    QUANTILES,
    ConditionSummary,
    Estimate,
    Ratio,
    Summary,
    summarise,
)
from crosswind.report.units import Unit, column_unit, count, number, percent, short_names, times, wrapped
from crosswind.stats import Interval, NeedsTrials, RatioInterval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PLAIN_COLUMNS = 150  # of text that is not going to a terminal: wide enough that no cell is broken
WIDE_COLUMNS = 118  # from here on every column fits beside names of some twenty letters

Cell = Callable[[ConditionSummary], str]


def print_table(folder: Path, console: "Console") -> None:
    """Print what the results in `folder` say: a row per condition, then what to know before quoting it.

    Raises: NotAResultsFolder: `folder` holds no results.
    """
    print_summary(summarise(folder), console)


def print_summary(summary: Summary, console: "Console") -> None:
    """Print a summary that has been made already."""
    from rich.markup import escape

    if not console.is_terminal:
        console.width = max(console.width, PLAIN_COLUMNS)
    console.print(f"[bold]{escape(summary.name)}[/bold]  {escape(summary.summary)}", highlight=False)
    console.print(summary_table(summary, console.width), soft_wrap=False)
    baseline = short_names(condition.name for condition in summary.conditions).get(summary.baseline, "none")
    below = "; below a value its 95 % interval" if _any_interval(summary) else "; too few for intervals"
    console.print(f"Medians over trials{below}. Baseline: {escape(baseline)}.", style="dim", highlight=False)
    for caution in cautions(summary):
        mark = "[bold yellow]![/bold yellow]" if caution.level == "serious" else "[dim]-[/dim]"
        text = f"{mark} [bold]{escape(caution.title)}.[/bold] {escape(caution.text)}"
        console.print(text, highlight=False)


def summary_table(summary: Summary, columns: int) -> "Table":
    """Return the table alone, with what fits into `columns` characters; the report has all of it anyhow."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    conditions = summary.conditions
    short = short_names(condition.name for condition in conditions)
    wide = columns >= WIDE_COLUMNS
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("condition", overflow="fold")
    name_columns = max(16, columns - 86 if wide else columns - 64)  # what the other columns leave
    cells: list[Cell] = [lambda condition: escape("\n".join(wrapped(short[condition.name], name_columns)))]

    def add(header: str, cell: Cell) -> None:
        table.add_column(header, justify="right", no_wrap=True)
        cells.append(cell)

    for q in QUANTILES if wide else ("p50", "p99"):
        unit = column_unit(condition.latency_ns[q].estimate for condition in conditions)
        add(f"{QUANTILE_NAMES[q]}\n{unit.name}", _quantile_cell(q, unit))
    add("P99 vs\nbaseline", lambda condition: _ratio_cell(condition.ratio["p99"]))
    add("through-\nput /s", lambda condition: _cell(condition.throughput_per_s, number))
    add("over\n100 ms", lambda condition: _cell(condition.slow_share, percent))
    if wide:
        add("dropped\npackets", lambda condition: count(sum(condition.drops.values())))
    table.add_column("trials")
    cells.append(_trials)
    for condition in conditions:
        table.add_row(*(cell(condition) for cell in cells))
    return table


def _quantile_cell(q: str, unit: Unit) -> Cell:
    return lambda condition: _cell(condition.latency_ns[q], unit.show)


def _cell(estimate: Estimate, show: Callable[[float | None], str]) -> str:
    if isinstance(estimate, NeedsTrials):
        return show(estimate.estimate)
    return f"{show(estimate.estimate)}\n[dim]{show(estimate.low)} - {show(estimate.high)}[/dim]"


def _ratio_cell(ratio: Ratio | None) -> str:
    if ratio is None:
        return "baseline"
    if isinstance(ratio, RatioInterval):
        return f"{times(ratio.estimate)}\n[dim]{number(ratio.low)} - {number(ratio.high)}[/dim]"
    return times(ratio.estimate)


def _trials(condition: ConditionSummary) -> str:
    styles = {"faithful": "green", "degraded": "yellow", "void": "red", "failed": "red", "pending": "dim"}
    counts = {kind: condition.count(kind) for kind in styles}
    lines = [f"[{styles[kind]}]{many} {kind}[/{styles[kind]}]" for kind, many in counts.items() if many]
    median = condition.latency_ns["p50"]
    if isinstance(median, NeedsTrials):
        lines.append(f"[dim]needs {median.needed} trials[/dim]")
    return "\n".join(lines)


def _any_interval(summary: Summary) -> bool:
    return any(isinstance(condition.latency_ns["p99"], Interval) for condition in summary.conditions)
