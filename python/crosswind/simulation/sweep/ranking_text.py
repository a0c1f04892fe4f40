"""Print which conditions deserve a real trial."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crosswind.simulation.sweep.ranking import Ranking
from crosswind.text.console import widen
from crosswind.text.units import column_unit, count, number, percent, units_of

if TYPE_CHECKING:
    from rich.console import Console


def print_ranking(ranking: Ranking, experiment: str, trial_s: float | None, console: Console) -> None:
    """Print a row for each condition that deserves a real trial, and the command that runs them.

    Args:
        experiment: as on the command line.
        trial_s: seconds that one trial of each of them takes; None where that is unknown.
    """
    from rich import box
    from rich.table import Table

    from crosswind.plan.text import duration

    widen(console)
    figure = ranking.figure
    unit = column_unit((each.of.value for each in ranking.chosen), units_of(figure.unit))
    console.print(_first_line(ranking), markup=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("condition")
    for heading in (f"{figure.label}, {unit.name}".rstrip(", "), "times\nbaseline", "spread", "timeouts"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("why", no_wrap=True)
    for each in ranking.chosen:
        of = each.of
        spread = "-" if of.spread is None else percent(of.spread - 1)
        cells = (unit.show(of.value), number(of.effect), spread, percent(of.timeouts))
        table.add_row(of.condition, *cells, each.why)
    console.print(table, soft_wrap=False)
    for line in _notes(ranking):
        console.print(line, style="dim", markup=False)
    if ranking.chosen:
        names = [ranking.baseline, *(each.of.condition for each in ranking.chosen)]
        total_s = None if trial_s is None else trial_s * len(names)
        console.print(f"\nOne real trial of each, {duration(total_s)}:", markup=False)
        console.print(_command(experiment, names), markup=False, soft_wrap=True)


def _first_line(ranking: Ranking) -> str:
    numbers = sorted({each.trials for each in ranking.conditions})
    each = " to ".join(count(number) for number in dict.fromkeys((numbers[0], numbers[-1])))
    missing = f", {count(ranking.missing)} not yet" if ranking.missing else ""
    return (
        f"{count(len(ranking.conditions))} conditions simulated with {each} trials each{missing}; "
        f"the baseline is {ranking.baseline}"
    )


def _notes(ranking: Ranking) -> list[str]:
    """Return how to read the table, and what is not in it."""
    lines = [
        "spread: by how much the largest trial exceeds the smallest. timeouts: share of operations, or of "
        "segments of streams.",
    ]
    if all(each.spread is None for each in ranking.conditions):
        lines.append("No spread is known: with `repeat: 2` or more there is one.")
    if all(each.effect is None for each in ranking.conditions):
        lines.append(f"No effect is known, because the baseline {ranking.baseline} has no value.")
    refused = [each for each in ranking.conditions if each.refused is not None]
    if refused:
        first = refused[0]
        lines.append(
            f"{count(len(refused))} conditions could not be simulated, such as {first.condition}: "
            f"{first.refused}"
        )
    return lines


def _command(experiment: str, names: Sequence[str]) -> str:
    only = " ".join(f"--only {shlex.quote(name)}" for name in names)
    return f"crosswind run {shlex.quote(experiment)} --once {only}"
