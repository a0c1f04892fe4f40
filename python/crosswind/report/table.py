"""The summary as a table for a terminal.

Plain text where the output is not a terminal, uncoloured where NO_COLOR is set: rich sees to both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from crosswind.report.cautions import cautions
from crosswind.report.measure import Measure
from crosswind.report.summary import ConditionSummary, Estimate, Summary, summarise
from crosswind.report.units import column_unit, count, number, percent, short_names, times, units_of, wrapped
from crosswind.stats import Interval, NeedsTrials, RatioInterval, RefusedComparison, RefusedInterval

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PLAIN_COLUMNS = 150  # of text that is not going to a terminal: wide enough that no cell is broken
NAME_COLUMNS = 16  # that a condition's name may always take
LABEL_COLUMNS = 12  # of a label on one line
GAP_COLUMNS = 3  # of padding and divider, for every column

_STYLES = {"better": "green", "worse": "red", "": "none"}

Cell = Callable[[ConditionSummary], str]


@dataclass(frozen=True)
class Column:
    """A column; where not all fit, those of the highest `rank` are left to the report."""

    header: str
    cells: list[str]
    rank: int
    justify: Literal["left", "right"] = "right"

    @property
    def columns(self) -> int:
        """Characters that it takes, the gap included."""
        from rich.text import Text

        lines = [
            line for cell in (self.header, *self.cells) for line in Text.from_markup(cell).plain.split("\n")
        ]
        return max(map(len, lines)) + GAP_COLUMNS


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
    against = f" Baseline: {escape(baseline)}." if summary.ratio_after else ""
    better = f"{summary.primary.better.capitalize()} {summary.primary.label} is better"
    told = f"Medians over trials{below}.{against} {escape(better)}."
    console.print(told, style="dim", highlight=False)
    for caution in cautions(summary):
        mark = "[bold yellow]![/bold yellow]" if caution.level == "serious" else "[dim]-[/dim]"
        named = f"[dim]({caution.id})[/dim]"
        text = f"{mark} [bold]{escape(caution.title)}.[/bold] {escape(caution.text)} {named}"
        console.print(text, highlight=False)


def summary_table(summary: Summary, columns: int) -> "Table":
    """Return the table alone, with what fits into `columns` characters; the report has all of it anyhow."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    short = short_names(condition.name for condition in summary.conditions)
    # A name may be broken at its hyphens, but hardly more than once on a wide terminal.
    name_columns = min(max(NAME_COLUMNS, columns // 5), max(map(len, short.values()), default=0))
    shown = _fitting(_columns(summary), columns - name_columns - GAP_COLUMNS)
    left = columns - sum(column.columns for column in shown) - GAP_COLUMNS
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("condition", overflow="fold")
    for column in shown:
        table.add_column(column.header, justify=column.justify, no_wrap=True)
    for row, condition in enumerate(summary.conditions):
        name = escape("\n".join(wrapped(short[condition.name], left)))
        table.add_row(name, *(column.cells[row] for column in shown))
    return table


def _fitting(columns: list[Column], room: int) -> list[Column]:
    """Return the columns that fit, in their order."""
    kept = []
    for column in sorted(columns, key=lambda column: column.rank):
        room -= column.columns
        if room < 0:
            break
        kept.append(column)
    return [column for column in columns if column in kept]


def _columns(summary: Summary) -> list[Column]:
    """Return all columns, in the order in which they stand."""

    def column(header: str, cell: Cell, rank: int) -> Column:
        return Column(header, [cell(condition) for condition in summary.conditions], rank)

    primary, columns = summary.primary, []
    for place, measure in enumerate(summary.measures):
        # Quantiles that most applications do not name themselves are the first to go.
        beside = measure.of_operations and measure.statistic in ("p95", "p999")
        columns.append(
            _measure_column(summary, measure, 0 if measure == primary else place + 10 + 50 * beside)
        )
        if measure == summary.ratio_after:
            header = f"{_two_lines(primary.label)} vs\nbaseline"
            columns.append(column(header, lambda condition: _ratio_cell(summary, condition), 1))
    if summary.has_operations:
        columns.append(column("over\n100 ms", lambda condition: _cell(condition.slow_share, percent), 40))
    columns.append(column("dropped\npackets", lambda condition: count(sum(condition.drops.values())), 90))
    trials = [_trials(condition, primary) for condition in summary.conditions]
    return [*columns, Column("trials", trials, 2, "left")]


def _measure_column(summary: Summary, measure: Measure, rank: int) -> Column:
    estimates = [condition.estimates[measure.key] for condition in summary.conditions]
    unit = column_unit((estimate.estimate for estimate in estimates), units_of(measure.unit))
    header = "\n".join(part for part in (_two_lines(measure.label), unit.name) if part)
    return Column(header, [_cell(estimate, unit.show) for estimate in estimates], rank)


def _two_lines(label: str) -> str:
    """Return a label, broken where it would make its column much wider than its numbers."""
    return label if len(label) <= LABEL_COLUMNS else label.replace(" ", "\n")


def _cell(estimate: Estimate, show: Callable[[float | None], str]) -> str:
    if isinstance(estimate, NeedsTrials):
        return show(estimate.estimate)
    if isinstance(estimate, RefusedInterval):
        return f"{show(estimate.estimate)}\n[yellow]refused[/yellow]"
    return f"{show(estimate.estimate)}\n[dim]{show(estimate.low)} - {show(estimate.high)}[/dim]"


def _ratio_cell(summary: Summary, condition: ConditionSummary) -> str:
    if condition.name == summary.baseline:
        return "baseline"
    ratio = condition.ratios.get(summary.primary.key)
    if ratio is None:
        return "-"
    if isinstance(ratio, RefusedComparison):
        return f"{times(ratio.estimate)}\n[yellow]refused[/yellow]"
    if not isinstance(ratio, RatioInterval):
        return times(ratio.estimate)
    style = _STYLES[summary.primary.verdict(ratio)]
    return f"[{style}]{times(ratio.estimate)}[/]\n[dim]{number(ratio.low)} - {number(ratio.high)}[/dim]"


def _trials(condition: ConditionSummary, primary: Measure) -> str:
    styles = {"faithful": "green", "degraded": "yellow", "void": "red", "failed": "red", "pending": "dim"}
    counts = {kind: condition.count(kind) for kind in styles}
    lines = [f"[{styles[kind]}]{many} {kind}[/{styles[kind]}]" for kind, many in counts.items() if many]
    median = condition.estimates[primary.key]
    if isinstance(median, NeedsTrials):
        lines.append(f"[dim]needs {median.needed} trials[/dim]")
    return "\n".join(lines)


def _any_interval(summary: Summary) -> bool:
    return any(isinstance(c.estimates[summary.primary.key], Interval) for c in summary.conditions)
