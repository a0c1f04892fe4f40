"""Print a comparison of two runs: the answer first, then a row for each number."""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crosswind.analysis.compare import Compared, RunComparison, Verdict
from crosswind.stats import GroupsNeedTrials, Guard, RatioInterval, RefusedComparison
from crosswind.text.change import change, change_interval
from crosswind.text.console import widen
from crosswind.text.units import column_unit, count, percent, short_names, units_of

_STYLES: dict[Verdict, str] = {"better": "green", "worse": "red", "undecided": "dim", "refused": "yellow"}


def print_comparison(comparison: RunComparison, console: Console) -> None:
    """Print a comparison."""
    widen(console)
    console.print(f"[bold]{escape(str(comparison.other))}[/bold] against {escape(str(comparison.base))}")
    for line in comparison.sameness.time:
        if line not in comparison.sameness.notes:
            console.print(line, style="dim", markup=False)
    console.print(_answer(comparison), markup=False)
    console.print(_table(comparison), soft_wrap=False)
    for line in _reading(comparison):
        console.print(line, style="dim", markup=False, soft_wrap=False)
    notes = (*comparison.sameness.hindrances, *comparison.sameness.notes, *_alone(comparison))
    for line in (*notes, *_lost(comparison), *_refused(comparison)):
        console.print(f"[bold yellow]![/bold yellow] {escape(line)}", soft_wrap=False)


def _answer(comparison: RunComparison) -> str:
    """Return how many numbers are better, worse and undecided, in a sentence."""
    verdicts = Counter(compared.verdict for compared in comparison.compared)
    held = sum(compared.holds for compared in comparison.compared)
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in _STYLES if verdicts[verdict])
    decided = verdicts["better"] + verdicts["worse"]
    still = f"; {held} of the {decided} hold after correction for all comparisons" if decided else ""
    return f"Of {verdicts.total()} numbers: {counts}{still}."


def _table(comparison: RunComparison) -> Table:
    short = short_names(compared.condition for compared in comparison.compared)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("condition", overflow="fold")
    table.add_column("number", overflow="fold")
    for header in ("base", "other", "change", "chance of\nbeing larger", "p", "trials"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    above = ""
    for compared in comparison.compared:
        name = short[compared.condition]
        if above and name != above:
            table.add_section()
        table.add_row(escape("" if name == above else name), *_cells(compared))
        above = name
    return table


def _cells(compared: Compared) -> list[str]:
    unit = column_unit(compared.medians, units_of(compared.measure.unit))
    base, other = (unit.show(median) for median in compared.medians)
    ratio, interval = compared.ratio, ""
    if isinstance(ratio, RatioInterval):
        interval = f"\n[dim]{change_interval(ratio.low, ratio.high)}[/dim]"
    trials = compared.trials
    return [
        escape(", ".join(part for part in (compared.measure.label, unit.name) if part)),
        base,
        other,
        f"{change(ratio.estimate) if ratio else '-'}{interval}",
        percent(compared.test.a12),
        "< 0.0001" if compared.p_holm < 1e-4 else f"{compared.p_holm:.2g}",
        str(trials[0]) if trials[0] == trials[1] else f"{trials[0]}, {trials[1]}",
        _verdict(compared),
    ]


def _verdict(compared: Compared) -> str:
    styled = f"[{_STYLES[compared.verdict]}]{compared.verdict}[/]"
    if compared.verdict != "undecided":
        return styled
    if isinstance(compared.ratio, GroupsNeedTrials):
        return f"{styled}\n[dim]{compared.ratio}[/dim]"
    if compared.more_trials is None:
        return f"{styled}\n[dim]too close to decide[/dim]"
    return f"{styled}\n[dim]{count(compared.more_trials)} more a side[/dim]"


def _reading(comparison: RunComparison) -> list[str]:
    """Return how to read the table."""
    many = len(comparison.compared)
    return [
        "base, other: medians over trials. change: of other against base (Hodges-Lehmann), with its exact "
        "95 % interval, not corrected; undecided where the interval contains no change.",
        f"p: Mann-Whitney, corrected for {many} comparison{'' if many == 1 else 's'} (Holm). "
        "more a side: a forecast of the trials needed on each side, if the change stays the same.",
    ]


def _refused(comparison: RunComparison) -> list[str]:
    """Return why the guard refuses comparisons, and the remedies."""
    return [
        f"refused: {compared.measure.label} under {compared.condition}: {refusal(compared.ratio.guard)}"
        for compared in comparison.compared
        if isinstance(compared.ratio, RefusedComparison)
    ]


def refusal(guard: Guard) -> str:
    """Return why trials are not independent, and the remedy."""
    return f"{guard.reason}; remedy: {guard.remedy}"


def _alone(comparison: RunComparison) -> list[str]:
    """Return the conditions that only one of the runs has."""
    known = {compared.condition for compared in comparison.compared}
    sides = (
        ("only in base", comparison.only_base),
        ("only in other", comparison.only_other),
        ("without counted trials in both", [name for name in comparison.common if name not in known]),
    )
    return [f"{where}: {', '.join(names)}" for where, names in sides if names]


def _lost(comparison: RunComparison) -> list[str]:
    """Return the conditions under which trials finally failed."""
    lost = {compared.condition: compared.lost for compared in comparison.compared if any(compared.lost)}
    return [
        f"trials that failed under {name}: {base} of base, {other} of other; they are in no number, so the "
        "side with more failures looks better than it is"
        for name, (base, other) in lost.items()
    ]
