"""Print OSMeF's Table 1: a table for each number of connections, then the runs that do not belong."""

from __future__ import annotations

from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crosswind.analysis.osmef.table import (
    CorrectedRow,
    OsmefRow,
    OsmefTable,
    OverRuns,
    PublishedRow,
    Scenario,
)
from crosswind.stats import Interval, RefusedInterval
from crosswind.text.console import widen
from crosswind.text.units import percent, times

Show = Callable[[float], str]


def print_osmef(table: OsmefTable, console: Console) -> None:
    """Print the table."""
    widen(console)
    runs = sum(scenario.runs for scenario in table.scenarios)
    many = len(table.scenarios)
    console.print(
        f"[bold]{escape(table.folder)}[/bold]  results of OSMeF: {runs} runs of {many} "
        f"scenario{'' if many == 1 else 's'}"
    )
    for connections in sorted({row.connections for of_it in table.scenarios for row in of_it.rows}):
        console.print(f"\n[bold]{connections} connection{'' if connections == 1 else 's'}[/bold]")
        console.print(_table(table, connections), soft_wrap=False)
    for line in _reading(table):
        console.print(line, style="dim", markup=False, soft_wrap=False)
    for line in [line for scenario in table.scenarios for line in _warnings(scenario)]:
        console.print(f"[bold yellow]![/bold yellow] {escape(line)}", soft_wrap=False)


def _table(table: OsmefTable, connections: int) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    shown.add_column("scenario", overflow="fold")
    shown.add_column("figures", no_wrap=True)
    rates = (
        ("sum\nMB/s", "each\nMB/s", "sd of\nconnections", "Jain's\nindex") if connections > 1 else ("MB/s",)
    )
    for head in ("runs", "vary by", *rates, "rx CPU %", "tx CPU %"):
        shown.add_column(head, justify="right", no_wrap=True)
    for scenario in table.scenarios:
        marked = " [yellow]![/yellow]" if scenario.left_out or scenario.guard.refused else ""
        for row in scenario.rows:
            if row.connections == connections:
                _add(shown, f"{escape(scenario.name)}{marked}", row)
    return shown


def _add(shown: Table, name: str, row: OsmefRow) -> None:
    """Add the lines of a row: as published, of one machine where that differs, and run by run."""
    shown.add_row(name, "published", *_published(row.published, row.connections))
    if row.kept is not None and row.kept.runs < row.published.runs:
        shown.add_row("", "one machine", *_published(row.kept, row.connections))
    if row.corrected is None:
        shown.add_row("", "run by run", "0")
    else:
        shown.add_row("", "run by run", *_corrected(row.corrected, row.connections))
    shown.add_section()


def _published(row: PublishedRow, connections: int) -> list[str]:
    if connections > 1:
        rates = [_rate(row.total_mb_s), _rate(row.mean_mb_s), _rate(row.sd_mb_s), _index(row.jain)]
    else:
        rates = [f"{_rate(row.mean_mb_s)} ({_rate(row.sd_mb_s)})"]
    cpu = ((row.rx_cpu, row.rx_cpu_sd), (row.tx_cpu, row.tx_cpu_sd))
    return [
        str(row.runs),
        percent(row.variation),
        *rates,
        *(f"{_share(mean)} ({_share(sd)})" for mean, sd in cpu),
    ]


def _corrected(row: CorrectedRow, connections: int) -> list[str]:
    rates = [_over_runs(row.total_mb_s, _rate)]
    if row.sd_mb_s is not None and row.jain is not None:
        of_each = row.total_mb_s.median.estimate
        each = "-" if of_each is None else _rate(of_each / connections)
        rates += [each, _over_runs(row.sd_mb_s, _rate), _over_runs(row.jain, _index)]
    return [
        str(row.runs),
        percent(row.variation),
        *rates,
        _over_runs(row.rx_cpu, _share),
        _over_runs(row.tx_cpu, _share),
    ]


def _over_runs(found: OverRuns, show: Show) -> str:
    median = found.median
    shown = "-" if median.estimate is None else show(median.estimate)
    if isinstance(median, Interval):
        return f"{shown}\n[dim]{show(median.low)} - {show(median.high)}[/dim]"
    if isinstance(median, RefusedInterval):
        return f"{shown}\n[yellow]refused[/yellow]"
    if found.least == found.greatest:
        return shown
    return f"{shown}\n[dim]{show(found.least)} .. {show(found.greatest)}[/dim]"


def _rate(value: float) -> str:
    return f"{value:.2f}"


def _share(value: float) -> str:
    return f"{value:.1f}"


def _index(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _reading(table: OsmefTable) -> list[str]:
    """Return how to read the table."""
    return [
        "MB are of 2^20 bytes; CPU is of one core. vary by: standard deviation over mean of the runs' sums.",
        "published: as in Table 1, means over all runs, with population standard deviations in brackets; "
        "several connections are each averaged over runs first.",
        "one machine: the same without runs on another machine.",
        "run by run: the median over these runs. sum: all bytes over the time of the longest transfer. Below "
        f"it the {table.confidence:.0%} interval (low - high), or with fewer than 6 runs the range "
        "(least .. greatest).",
    ]


def _warnings(scenario: Scenario) -> list[str]:
    """Return why runs of a scenario do not belong together."""
    lines = []
    if scenario.guard.refused:
        before, after = scenario.guard.levels
        lines.append(
            f"{scenario.name}: {scenario.guard.reason}. Before it, runs had {times(before)} the mean of runs "
            f"with as many connections; after it, {times(after)}. Remedy: {scenario.guard.remedy}."
        )
    for machine, files in scenario.left_out.items():
        like = f", as in {', '.join(scenario.like[machine])}" if scenario.like[machine] else ""
        several = f"{files[0]} to {files[-1]}" if len(files) > 1 else files[0]
        lines.append(
            f"{scenario.name}: {len(files)} of {scenario.runs} runs were made on another machine "
            f"({machine or 'not described'}{like}, instead of {scenario.machine or 'not described'}): "
            f"{several}. Only the published figures include them."
        )
    return lines
