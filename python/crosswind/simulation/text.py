"""Print the result of a run in virtual time on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosswind.simulation.answer import DelayQuantiles
from crosswind.simulation.replayed import Agreement, VirtualRun
from crosswind.text.console import widen
from crosswind.text.units import column_unit, count, duration, percent

if TYPE_CHECKING:
    from rich.console import Console


def print_comparison(comparison: Agreement, console: Console) -> None:
    """Print whether the replay made the same decisions as the live run."""
    if comparison.identical:
        console.print(
            f"identical: all {count(comparison.decisions)} decisions of the live run, to the nanosecond"
        )
    else:
        console.print(
            f"DIFFERENT: {count(comparison.different)} of {count(comparison.decisions)} decisions; "
            f"{comparison.first_difference}"
        )


def print_simulation(run: VirtualRun, console: Console) -> None:
    """Print a row for every pair of nodes, then the drops of each pair by element and reason."""
    from rich import box
    from rich.table import Table

    widen(console)
    shown = [_quantiles_shown(pair.delay_ns) for pair in run.pairs]
    unit = column_unit(value for row in shown for value in row)
    table = Table(
        box=box.SIMPLE,
        title=f"{run.condition}, {duration(run.duration_ns)} of virtual time",
        title_justify="left",
    )
    table.add_column("from -> to")
    quantiles = (f"{name} {unit.name}" for name in ("p50", "p99", "p99.9", "max"))
    # Of the recording of one of several machines.
    is_part = any(pair.crossed.packets for pair in run.pairs)
    elsewhere = ("to other machines",) if is_part else ()
    for heading in ("offered", "delivered", *elsewhere, "dropped", *quantiles):
        table.add_column(heading, justify="right")
    for pair, row in zip(run.pairs, shown, strict=True):
        table.add_row(
            f"{pair.sender} -> {pair.receiver}",
            count(pair.offered.packets),
            count(pair.delivered.packets),
            *((count(pair.crossed.packets),) if is_part else ()),
            percent(pair.dropped_packets / pair.offered.packets),
            *(unit.show(value) for value in row),
        )
    console.print(table, soft_wrap=False)
    for pair in run.pairs:
        for reason, dropped in pair.dropped.items():
            console.print(f"  {pair.sender} -> {pair.receiver}: {count(dropped.packets)} at {reason}")


def _quantiles_shown(delay_ns: DelayQuantiles | None) -> tuple[int | None, ...]:
    if delay_ns is None:
        return (None,) * 4
    return delay_ns.p50, delay_ns.p99, delay_ns.p999, delay_ns.max
