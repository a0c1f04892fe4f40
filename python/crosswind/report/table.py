"""Print a run: the answer, the table, and the three most important warnings; the report has the rest.

Output is plain text off a terminal, and without colours if NO_COLOR is set; rich does both.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from crosswind.analysis.answer import answers, trials_so_far
from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.invariance import ROUNDS_MIN, Agreement, of_conditions
from crosswind.analysis.machines import start_skew
from crosswind.analysis.measure import Measure
from crosswind.analysis.moved import faithful_for, ranges_meet
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import ConditionSummary, Estimate, Summary
from crosswind.report.fault_lines import fault_lines
from crosswind.report.machines_section import within
from crosswind.spec.resolved import slower_text
from crosswind.stats import Interval, NeedsTrials, RatioInterval, RefusedComparison, RefusedInterval
from crosswind.stats.equivalence import Alike
from crosswind.text.change import change, change_interval
from crosswind.text.console import widen
from crosswind.text.units import column_unit, count, percent, short_names, units_of, wrapped

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NAME_COLUMNS = 24  # that a condition's name always gets: most names then have at most two lines
ANSWER_NAME_COLUMNS, ANSWER_RANK = 16, 2  # the first figure, its change and the trials come before long names
LABEL_COLUMNS = 12  # of a label on one line
GAP_COLUMNS = 3  # of padding and divider, for every column
_UNBREAKABLE = {0xA0: 0xE000, 0x202F: 0xE001}  # unbreakable spaces, replaced by letters without a meaning
WARNINGS = 3  # with a table of a few conditions they fit on a screen of 24 lines

_STYLES = {"better": "green", "worse": "red", "": "none"}
_AGREES: dict[Alike, str] = {"same": "green", "different": "red", "undecided": "dim"}

Cell = Callable[[ConditionSummary], str]


@dataclass(frozen=True)
class Column:
    """A column; where not all fit, those of the highest `rank` are only in the report."""

    name: str
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
    """Print the results in `folder`: the answer, a row for each condition, and warnings.

    Raises: NotAResultsFolder: `folder` holds no results.
    """
    print_summary(summarise(folder), console)


def print_summary(summary: Summary, console: "Console") -> None:
    """Print a summary."""
    from rich.markup import escape

    widen(console)
    first = answers(summary)
    _say(f"[bold]{escape(summary.name)}[/bold]  {escape(summary.summary)}", console)
    if slower := slower_text(summary.resolved.dilations):
        _say(f"[dim]{slower}[/dim]", console)
    if known := trials_so_far(summary):
        _say(f"[yellow]{known}.[/yellow]", console)
    # Where no trial counts, there is nothing to compare, and the first answer has the reason. A wrong
    # answer of a store is wrong in a void trial, too.
    told = first[:2] if summary.histories or any(trial.counted for trial in summary.trials) else first[:1]
    short = ". ".join(answer.short for answer in told)
    _say(f"[bold]{escape(short)}.[/bold] {escape(told[-1].text)}", console)
    _say(escape(" ".join(f"{answer.question} {answer.short}." for answer in first[2:])), console)
    table, left_out = summary_table(summary, console.width)
    console.print(table, soft_wrap=False)
    baseline = short_names(condition.name for condition in summary.conditions).get(summary.baseline, "none")
    below = " with 95 % intervals" if _any_interval(summary) else _too_few(summary)
    against = f" Baseline: {escape(baseline)}." if summary.ratio_after else ""
    better = f"{summary.primary.better.capitalize()} {summary.primary.label} is better"
    narrow = f" Too narrow for: {escape(', '.join(left_out))}." if left_out else ""
    reading = f"Medians over trials{below}.{against} {escape(better)}.{narrow}"
    _say(f"[dim]{reading}[/dim]", console)
    if (skew := start_skew([trial.machines for trial in summary.trials])) is not None:
        began = f"measurements began within {within(skew.skew_ns, skew.bound_ns)} of each other"
        over = " over raw Ethernet" if skew.network == "native" else ""
        _say(f"[dim]{skew.machines} machines{over}: {began}.[/dim]", console)
    for line in fault_lines(summary):
        _say(escape(line), console)
    found = cautions(summary)
    for caution in found[:WARNINGS]:
        mark = "[bold yellow]![/bold yellow]" if caution.level == "serious" else "[dim]-[/dim]"
        sentence, ended, _ = caution.text.partition(". ")
        text = f"{escape(sentence)}{ended.rstrip()} [dim]({caution.id})[/dim]"
        _say(f"{mark} [bold]{escape(caution.title)}.[/bold] {text}", console)
    if len(found) > WARNINGS:
        _say(f"{len(found) - WARNINGS} more in the report.", console)


def _say(markup: str, console: "Console") -> None:
    """Print a paragraph: broken between words on a terminal, otherwise as one line.

    Rich would also break lines at unbreakable spaces, such as those in `1 000` and before a unit.
    """
    from rich.text import Text

    text = Text.from_markup(markup)
    text.plain = text.plain.translate(_UNBREAKABLE)
    lines = text.wrap(console, console.width) if console.is_terminal else [text]
    for line in lines:
        line.plain = line.plain.translate({there: here for here, there in _UNBREAKABLE.items()})
        console.print(line, highlight=False, soft_wrap=True)


def summary_table(summary: Summary, columns: int) -> tuple["Table", list[str]]:
    """Return the table with the columns that fit into `columns` characters, and the names of the others."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    short = short_names(condition.name for condition in summary.conditions)
    # A name may be broken at its hyphens, but seldom more than once on a wide terminal.
    name_columns = min(max(NAME_COLUMNS, columns // 5), max(map(len, short.values()), default=0))
    every = _columns(summary)
    shown = _fitting(every, columns - GAP_COLUMNS, name_columns)
    left = columns - sum(column.columns for column in shown) - GAP_COLUMNS
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("condition", overflow="fold")
    for column in shown:
        table.add_column(column.header, justify=column.justify, no_wrap=True)
    for row, condition in enumerate(summary.conditions):
        name = escape("\n".join(wrapped(short[condition.name], left)))
        table.add_row(name, *(column.cells[row] for column in shown))
    return table, [column.name for column in every if column not in shown]


def _fitting(columns: list[Column], room: int, name_columns: int) -> list[Column]:
    """Return the columns that fit beside names of `name_columns`, in their order.

    The columns of the first ranks are the answer; to fit them, names may be broken more often.
    """
    kept = []
    for column in sorted(columns, key=lambda column: column.rank):
        room -= column.columns
        if room < (min(name_columns, ANSWER_NAME_COLUMNS) if column.rank <= ANSWER_RANK else name_columns):
            break
        kept.append(column)
    return [column for column in columns if column in kept]


def _columns(summary: Summary) -> list[Column]:
    """Return all columns, in their order."""

    def column(name: str, header: str, cell: Cell, rank: int) -> Column:
        return Column(name, header, [cell(condition) for condition in summary.conditions], rank)

    primary, columns = summary.primary, []
    for place, measure in enumerate(summary.measures):
        # Quantiles that most applications do not name are left out first.
        beside = measure.of_operations and measure.statistic in ("p95", "p999")
        columns.append(
            _measure_column(summary, measure, 0 if measure == primary else place + 10 + 50 * beside)
        )
        if measure == summary.ratio_after:
            header = f"{_two_lines(primary.label)} vs\nbaseline"
            columns.append(
                column(
                    f"{primary.label} vs baseline",
                    header,
                    lambda condition: _ratio_cell(summary, condition),
                    1,
                )
            )
    if summary.has_operations:
        columns.append(
            column("over 100 ms", "over\n100 ms", lambda condition: _cell(condition.slow_share, percent), 40)
        )
    columns.append(column("dropped packets", "dropped\npackets", _dropped, 90))
    if twice := of_conditions(summary):
        columns.append(
            column(
                "at twice the dilation",
                "at twice\nthe dilation",
                lambda condition: _twice_cell(twice.get(condition.name)),
                3,
            )
        )
    some = _any_interval(summary)
    trials = [
        _trials(condition, summary.ranged, primary if some else None) for condition in summary.conditions
    ]
    return [*columns, Column("trials", f"{summary.counts}s", trials, 2, "left")]


def _dropped(condition: ConditionSummary) -> str:
    return count(sum(condition.drops.values())) if condition.counted else "-"


def _measure_column(summary: Summary, measure: Measure, rank: int) -> Column:
    estimates = [condition.estimates[measure.key] for condition in summary.conditions]
    unit = column_unit((estimate.estimate for estimate in estimates), units_of(measure.unit))
    header = "\n".join(part for part in (_two_lines(measure.label), unit.name) if part)
    return Column(measure.label, header, [_cell(estimate, unit.show) for estimate in estimates], rank)


def _two_lines(label: str) -> str:
    """Return a label, broken where its column would be much wider than the numbers."""
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
        return f"{change(ratio.estimate)}\n[yellow]refused[/yellow]"
    if not isinstance(ratio, RatioInterval):
        meeting = ranges_meet(condition, summary.base, summary.primary.key)
        return change(ratio.estimate) + ("\n[dim]ranges meet[/dim]" if meeting else "")
    style = _STYLES[condition.verdict(summary.primary)]
    return f"[{style}]{change(ratio.estimate)}[/]\n[dim]{change_interval(ratio.low, ratio.high)}[/dim]"


def _twice_cell(found: Agreement | None) -> str:
    """Return whether the primary figure is the same at twice the dilation, with its interval."""
    if found is None:
        return "-"
    outcome = f"[{_AGREES[found.outcome]}]{found.outcome}[/]"
    if found.low is None or found.high is None:
        lacks = "no ratio" if found.more_rounds is None else f"needs {ROUNDS_MIN} rounds"
        return f"{outcome}\n[dim]{lacks}[/dim]"
    return f"{outcome}\n[dim]{change_interval(found.low, found.high)}[/dim]"


def _trials(condition: ConditionSummary, measures: list[Measure], primary: Measure | None) -> str:
    """Return how the trials of a condition ended, and how many `primary` needs where others have enough."""
    styles = {
        "faithful": "green",
        "degraded": "yellow",
        "unverified": "yellow",
        "void": "red",
        "failed": "red",
    }
    styles |= {"interrupted": "dim", "pending": "dim"}
    counts = {kind: condition.count(kind) for kind in styles}
    lines = [f"[{styles[kind]}]{many} {kind}[/{styles[kind]}]" for kind, many in counts.items() if many]
    lines += _faithful_for(condition, measures)
    if primary and isinstance(median := condition.estimates[primary.key], NeedsTrials):
        lines.append(f"[dim]needs {median.needed} trials[/dim]")
    return "\n".join(lines)


def _faithful_for(condition: ConditionSummary, measures: list[Measure]) -> list[str]:
    """Return in how many trials figures are faithful, where these are more than the faithful trials."""
    many = Counter(
        measure.label
        for trial in condition.trials
        if trial.row.fidelity == "degraded"
        for measure in faithful_for(condition, trial, measures)
    )
    lines: dict[int, list[str]] = {}
    for label, degraded in many.items():
        lines.setdefault(condition.count("faithful") + degraded, []).append(label)
    return [
        f"[green]{', '.join(labels)}:\n{many} faithful{' each' if len(labels) > 1 else ''}[/green]"
        for many, labels in sorted(lines.items(), reverse=True)
    ]


def _too_few(summary: Summary) -> str:
    """Return how many trials an interval needs, where no condition has enough."""
    medians = [condition.estimates[summary.primary.key] for condition in summary.conditions]
    needed = [median.needed for median in medians if isinstance(median, NeedsTrials)]
    return f"; an interval needs {max(needed)} trials" if needed else ""


def _any_interval(summary: Summary) -> bool:
    return any(isinstance(c.estimates[summary.primary.key], Interval) for c in summary.conditions)
