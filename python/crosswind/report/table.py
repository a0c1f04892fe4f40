"""The summary as a table for a terminal; plain text where the output is not one or NO_COLOR is set (rich sees to both)."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from crosswind.report.summary import (
    QUANTILE_NAMES,
    QUANTILES,
    ConditionSummary,
    Estimate,
    Ratio,
    Summary,
    summarise,
)
from crosswind.report.units import column_unit, number, percent, short_names, times
from crosswind.stats import NeedsTrials, RatioInterval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PLAIN_COLUMNS = 150  # of text that is not going to a terminal: wide enough that no cell is broken


def print_table(folder: Path, console: "Console") -> None:
    """Print what the results in `folder` say, a row per condition, and below it what to know before quoting
    it.

    Raises: NotAResultsFolder: `folder` holds no results.
    """
    print_summary(summarise(folder), console)


def print_summary(summary: Summary, console: "Console") -> None:
    """Print a summary that has been made already."""
    from crosswind.report.cautions import cautions

    if not console.is_terminal:
        console.width = max(console.width, PLAIN_COLUMNS)
    console.print(f"[bold]{summary.name}[/bold]  {summary.summary}", highlight=False)
    console.print(summary_table(summary))
    console.print(
        "Medians over trials; times the P99 of "
        f"{short_names(c.name for c in summary.conditions)[summary.baseline]}. Below a value: its 95 % "
        "interval.",
        style="dim",
        highlight=False,
    )
    for caution in cautions(summary):
        mark = "[bold yellow]![/bold yellow]" if caution.level == "serious" else "[dim]-[/dim]"
        console.print(f"{mark} [bold]{caution.title}.[/bold] {caution.text}", highlight=False)


def summary_table(summary: Summary) -> "Table":
    """Return the table alone: latency quantiles, throughput, stalls and fidelity of each condition."""
    from rich import box
    from rich.table import Table

    conditions = summary.conditions
    short = short_names(condition.name for condition in conditions)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("condition", overflow="fold")
    table.add_column("trials", justify="right")
    columns: list[Callable[[ConditionSummary], str]] = []
    for q in QUANTILES:
        unit = column_unit(condition.latency_ns[q].estimate for condition in conditions)
        table.add_column(f"{QUANTILE_NAMES[q]}\n{unit.name}", justify="right")
        columns.append(lambda c, q=q, unit=unit: _cell(c.latency_ns[q], unit.show))  # type: ignore[misc]
    table.add_column("P99\ntimes", justify="right")
    table.add_column("throughput\nops/s", justify="right")
    table.add_column("over\n100 ms", justify="right")
    table.add_column("dropped\npackets", justify="right")
    table.add_column("fidelity")
    for condition in conditions:
        table.add_row(
            short[condition.name],
            str(len(condition.counted)),
            *(column(condition) for column in columns),
            _ratio_cell(condition.ratio["p99"]),
            _cell(condition.throughput_per_s, number),
            _cell(condition.slow_share, percent),
            str(sum(condition.drops.values())),
            _fidelity(condition),
        )
    return table


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


def _fidelity(condition: ConditionSummary) -> str:
    styles = {"faithful": "green", "degraded": "yellow", "void": "red", "failed": "red", "pending": "dim"}
    present = [
        (kind, condition.count(kind), style) for kind, style in styles.items() if condition.count(kind)
    ]
    if len(present) == 1 and present[0][0] == "faithful":
        return "[green]faithful[/green]"
    return ", ".join(f"[{style}]{count} {kind}[/{style}]" for kind, count, style in present)
