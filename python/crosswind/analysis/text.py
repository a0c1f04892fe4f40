"""Print an analysis: a row for each group, comparisons of groups, and how to read them."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crosswind.analysis.analysis import Analysis, Comparison, Estimate, SampleGroup
from crosswind.analysis.each import quantile_name
from crosswind.analysis.repetitions import needed
from crosswind.stats import (
    Interval,
    NeedsTrials,
    RatioInterval,
    RefusedComparison,
    RefusedInterval,
    ShiftInterval,
)
from crosswind.text.change import change, change_interval
from crosswind.text.console import widen
from crosswind.text.units import count, number, percent


def print_analysis(analysis: Analysis, console: Console) -> None:
    """Print an analysis."""
    widen(console)
    console.print(f"[bold]{escape(analysis.file)}[/bold]  {escape(_what(analysis))}")
    console.print(_groups_table(analysis), soft_wrap=False)
    for line in _reading(analysis):
        console.print(line, style="dim", markup=False, soft_wrap=False)
    if analysis.set_aside:
        console.print(_set_aside(analysis), style="yellow", markup=False, soft_wrap=False)
    if analysis.left_out:
        console.print(_left_out(analysis.left_out), style="yellow", markup=False, soft_wrap=False)
    for line in _guards(analysis):
        console.print(line, style="yellow", markup=False, soft_wrap=False)
    if analysis.comparisons:
        console.print()
        baseline = escape(analysis.comparisons[0].baseline)
        console.print(f"[bold]Against {baseline}[/bold]")
        console.print(_comparisons_table(analysis), soft_wrap=False)
        for line in _reading_comparisons(analysis):
            console.print(line, style="dim", markup=False, soft_wrap=False)


def _round_share(share: float) -> str:
    """Return a share as the user wrote it."""
    return f"{100 * share:.10g}\u00a0%"


def _what(analysis: Analysis) -> str:
    """Return what the numbers describe, in a sentence."""
    many, column = len(analysis.groups), f"column {analysis.column}"
    by = f", {many} group{_s(many)} by {analysis.by}" if analysis.by else ""
    if analysis.pooled:
        return f"{column}{by}; all rows pooled"
    if analysis.each is not None:
        return f"{column}{by}; the {analysis.each} of each {analysis.trial}"
    return f"{column}{by}; each row is one trial"


def _groups_table(analysis: Analysis) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    if analysis.by:
        table.add_column(escape(analysis.by), overflow="fold")
    table.add_column("rows" if analysis.pooled else "trials", justify="right", no_wrap=True)
    for p in analysis.groups[0].quantiles:
        table.add_column(quantile_name(p), justify="right", no_wrap=True)
    table.add_column("variation", justify="right", no_wrap=True)
    if not analysis.pooled:
        table.add_column(f"trials for\n±{_round_share(analysis.within)}", justify="right", no_wrap=True)
    for group in analysis.groups:
        cells = [escape(group.name)] if analysis.by else []
        cells.append(count(group.rows if group.trials is None else len(group.trials)))
        cells += [_estimate(estimate) for estimate in group.quantiles.values()]
        cells.append(percent(group.variation))
        if not analysis.pooled:
            cells.append(_repetitions(group))
        table.add_row(*cells)
    return table


def _estimate(estimate: Estimate | float) -> str:
    if isinstance(estimate, Interval):
        return f"{number(estimate.estimate)}\n[dim]{number(estimate.low)} - {number(estimate.high)}[/dim]"
    if isinstance(estimate, NeedsTrials):
        return f"{number(estimate.estimate)}\n[dim]{estimate}[/dim]"
    if isinstance(estimate, RefusedInterval):
        return f"{number(estimate.estimate)}\n[yellow]refused[/yellow]"
    return number(estimate)


def _repetitions(group: SampleGroup) -> str:
    found = group.repetitions
    if found is None:
        return "-"
    below = f"\n[dim]now ±{percent(found.reached)}[/dim]" if found.needed is None else ""
    return needed(found) + below


def _reading(analysis: Analysis) -> list[str]:
    """Return how to read the table of groups."""
    if analysis.pooled:
        return ["Rows of one trial are not independent, so these numbers have no intervals."]
    sure = _round_share(analysis.confidence)
    lines = []
    if analysis.each == "sum":
        lines.append("A sum of rates is the total rate only where all were measured over the same time.")
    lines.append(f"Below a value: its exact {sure} interval over trials, for any distribution of the values.")
    if any(group.repetitions for group in analysis.groups):
        within = _round_share(analysis.within)
        lines.append(
            f"trials for ±{within}: the number from which on the median's interval stays within {within} of "
            "it (CONFIRM)."
        )
    lines += _fewer(analysis.groups)
    lines.append(f"All of this needs independent trials of one distribution; {_checked(analysis)}.")
    return lines


def _fewer(groups: list[SampleGroup]) -> list[str]:
    """Return how often fewer trials would have missed, over all groups that show it."""
    asked = [group.fewer for group in groups if group.fewer]
    return [
        f"The median of only {same[0].few} of a group's trials is outside the group's interval for "
        f"{_from_to([found.missed for found in same])} of all choices."
        for same in zip(*asked, strict=True)
    ]


def _from_to(shares: list[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def _checked(analysis: Analysis) -> str:
    """Return the finding of the guard."""
    guards = [group.guard for group in analysis.groups if group.guard is not None]
    if not guards:
        return "this cannot be checked without an order of rows"
    unknown = next((seen for seen in guards if seen.verdict == "unknown"), None)
    if unknown is not None:
        return f"the guard cannot check all of them ({unknown.reason})"
    if any(seen.refused for seen in guards):
        return "the guard refuses those that are not"
    return "the guard, which uses the order of rows, found no violation"


def _set_aside(analysis: Analysis) -> str:
    return (
        f"{analysis.column} is the only column with numbers; not used: {', '.join(analysis.set_aside)} "
        "(give one with --by to form groups)."
    )


def _left_out(trials: int) -> str:
    return (
        f"Planned trials that are not included: {trials}. They failed, were void, did not run or lack the "
        "number, so conditions with failures look better than they are; crosswind report lists them."
    )


def _guards(analysis: Analysis) -> list[str]:
    """Return what the guard refuses, and the remedies."""
    lines = []
    for group in analysis.groups:
        if group.guard is not None and group.guard.refused:
            name = f"{group.name}: " if analysis.by else ""
            lines.append(f"{name}refused, because {group.guard.reason}. Remedy: {group.guard.remedy}.")
    if lines:
        lines.append("If rows are not in the order in which the trials ran, give --unordered.")
    return lines


def _comparisons_table(analysis: Analysis) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column(escape(analysis.by or "group"), overflow="fold")
    for header in ("difference", "chance of\nbeing larger", "p", "shown"):
        table.add_column(header, justify="right", no_wrap=True)
    for comparison in analysis.comparisons:
        table.add_row(
            escape(comparison.name),
            _difference(comparison),
            percent(comparison.test.a12),
            _p_value(comparison.p_holm),
            _shown(comparison),
        )
    return table


def _difference(comparison: Comparison) -> str:
    found = comparison.difference
    if found is None or found.estimate is None:
        return "-"
    ratio = isinstance(found, RatioInterval) or (not isinstance(found, ShiftInterval) and found.of == "ratio")
    estimate = change(found.estimate) if ratio else f"{found.estimate:+.3g}"
    if isinstance(found, RatioInterval):
        return f"{estimate}\n[dim]{change_interval(found.low, found.high)}[/dim]"
    if isinstance(found, ShiftInterval):
        return f"{estimate}\n[dim]{found.low:+.3g} to {found.high:+.3g}[/dim]"
    if isinstance(found, RefusedComparison):
        return f"{estimate}\n[yellow]refused[/yellow]"
    return f"{estimate}\n[dim]{found}[/dim]"


def _p_value(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def _shown(comparison: Comparison) -> str:
    if isinstance(comparison.difference, RefusedComparison):
        return "[yellow]refused[/yellow]"
    if not comparison.shown:
        return "no"
    return "larger" if comparison.test.a12 > 0.5 else "smaller"


def _reading_comparisons(analysis: Analysis) -> list[str]:
    """Return how to read the table of comparisons."""
    many = len(analysis.comparisons)
    corrected = f", corrected for {many} comparisons (Holm)" if many > 1 else ""
    lines = [
        f"difference: Hodges-Lehmann, with its {_round_share(analysis.confidence)} interval, not corrected. "
        f"p: Mann-Whitney{corrected}.",
        '"no" means that these trials do not show a difference, not that there is none.',
    ]
    if analysis.overall is not None:
        lines.insert(1, f"Whether any group differs: p {_p_value(analysis.overall.p)} (Kruskal-Wallis).")
    return lines


def _s(many: int) -> str:
    return "" if many == 1 else "s"
