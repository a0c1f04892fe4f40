"""What came of a run in virtual time, as text for a terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from crosswind.text.console import widen
from crosswind.text.units import column_unit, count, duration, percent

if TYPE_CHECKING:
    from rich.console import Console

_QUANTILES = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}


def print_comparison(comparison: Mapping[str, Any], console: "Console") -> None:
    """Print whether the replay decided as the live run did."""
    if comparison["identical"]:
        console.print(
            f"identical: all {count(comparison['decisions'])} decisions of the live run, to the nanosecond"
        )
    else:
        console.print(
            f"DIFFERENT: {count(comparison['different'])} of {count(comparison['decisions'])} decisions; "
            f"{comparison['first_difference']}"
        )


def print_simulation(summary: Mapping[str, Any], console: "Console") -> None:
    """Print a row for every pair of nodes, then every reason for a drop."""
    from rich import box
    from rich.table import Table

    widen(console)
    pairs = summary["pairs"]
    delays = [pair["delay_ns"][name] for pair in pairs if pair["delay_ns"] for name in _QUANTILES]
    unit = column_unit(delays)
    table = Table(
        box=box.SIMPLE,
        title=f"{summary['condition']}, {duration(summary['duration_ns'])} of virtual time",
        title_justify="left",
    )
    table.add_column("from -> to")
    for heading in (
        "offered",
        "delivered",
        "dropped",
        *(f"{name} {unit.name}" for name in _QUANTILES.values()),
    ):
        table.add_column(heading, justify="right")
    for pair in pairs:
        delay = pair["delay_ns"] or dict.fromkeys(_QUANTILES)
        table.add_row(
            f"{pair['from']} -> {pair['to']}",
            count(pair["offered"]["packets"]),
            count(pair["delivered"]["packets"]),
            percent(_dropped(pair) / pair["offered"]["packets"]),
            *(unit.show(delay[name]) for name in _QUANTILES),
        )
    console.print(table, soft_wrap=False)
    for pair in pairs:
        for reason, dropped in pair["dropped"].items():
            console.print(f"  {pair['from']} -> {pair['to']}: {count(dropped['packets'])} at {reason}")


def _dropped(pair: Mapping[str, Any]) -> int:
    return sum(int(dropped["packets"]) for dropped in pair["dropped"].values())
