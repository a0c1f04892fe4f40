"""Print the trials of an experiment in virtual time: a row for each condition."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crosswind.simulation.trials import SimulatedTrial
from crosswind.spec.resolved import ResolvedFigure
from crosswind.text.console import widen
from crosswind.text.units import count, percent, quantity

if TYPE_CHECKING:
    from rich.console import Console


def print_trials(
    trials: Sequence[SimulatedTrial], figures: Sequence[ResolvedFigure], console: Console
) -> None:
    """Print the median of each figure over the trials of a condition, and what TCP did.

    Args:
        figures: those of the application, the most important first.
    """
    from rich import box
    from rich.table import Table

    widen(console)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("condition")
    for heading in ("trials", *(figure.label for figure in figures), "sent again", "timeouts"):
        table.add_column(heading, justify="right", no_wrap=True)
    conditions: dict[str, list[SimulatedTrial]] = {}
    for trial in trials:
        conditions.setdefault(trial.trial.condition, []).append(trial)
    for condition, of_it in conditions.items():
        refused = next((trial.answer.refused for trial in of_it if trial.answer.refused), None)
        if refused is not None:
            table.add_row(condition, count(len(of_it)), refused)
            continue
        cells = [_cell(figure, of_it) for figure in figures]
        counts = [trial.answer.tcp for trial in of_it if trial.answer.tcp is not None]
        again, sent = sum(each.retransmitted for each in counts), sum(each.sent for each in counts)
        timeouts = sum(each.timeouts + each.probes for each in counts)
        table.add_row(
            condition, count(len(of_it)), *cells, percent(again / sent) if sent else "-", count(timeouts)
        )
    console.print(table, soft_wrap=False)
    console.print("In virtual time, TCP as Linux has it; medians over trials.", style="dim")


def _cell(figure: ResolvedFigure, trials: Sequence[SimulatedTrial]) -> str:
    values = [
        sum(found)
        for trial in trials
        if (
            found := [
                metric.value
                for metric in trial.metrics
                if (metric.metric, metric.statistic) == (figure.metric, figure.statistic)
            ]
        )
    ]
    return quantity(statistics.median(values), figure.unit) if values else "-"
