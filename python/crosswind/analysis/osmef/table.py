"""Compute OSMeF's Table 1 from its runs: as published, and corrected.

**As published**: all runs of a scenario with the same number of connections are pooled. For one connection,
the table has mean and population standard deviation over runs. For more, see `published_shares.py`.

**Corrected** in two steps. First, the same figures without runs on another machine than most runs of the
scenario. Then the figures of each of these runs, and their median. The total of a run is all bytes over the
time of the longest transfer, since the sum of rates over different times can exceed the line's rate. Spread
and Jain's index are computed from the connections of one run.

Two independent signs show that runs of a scenario do not belong together: the machines described in the
files, and the guard, which looks for a change of level over all numbers of connections (`matched_guard`).

Source: Venzano, Michiardi: OSMeF, EURECOM RR-13-287, Table 1, and its scripts aggregate.py and overview.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.osmef.published_shares import published_shares
from crosswind.analysis.osmef.runs import OsmefRun, OsmefTransfer
from crosswind.stats import (
    Guard,
    Interval,
    NeedsTrials,
    PerTrial,
    Refused,
    RefusedInterval,
    coefficient_of_variation,
    jain_index,
    matched_guard,
    quantile_interval,
)

Estimate = Interval | NeedsTrials | RefusedInterval


@dataclass(frozen=True)
class PublishedRow:
    """The row of Table 1 for a scenario and a number of connections; MB/s, and per cent of one core."""

    runs: int
    variation: float | None  # standard deviation over mean of the runs' sums of rates; None for one run
    total_mb_s: float
    mean_mb_s: float
    sd_mb_s: float  # over runs for one connection, else over connections averaged over runs
    rx_cpu: float
    rx_cpu_sd: float
    tx_cpu: float
    tx_cpu_sd: float
    jain: float | None  # of connections averaged over runs (Figures 3 and 5); None for one connection


@dataclass(frozen=True)
class OverRuns:
    """A figure of each run, summarised."""

    median: Estimate
    least: float
    greatest: float


@dataclass(frozen=True)
class CorrectedRow:
    """The same figures, computed for each run; only runs that belong together."""

    runs: int
    variation: float | None
    total_mb_s: OverRuns  # all bytes over the time of the longest transfer
    sd_mb_s: OverRuns | None  # of the connections of a run; None for one connection
    jain: OverRuns | None
    rx_cpu: OverRuns  # mean of the connections of a run
    tx_cpu: OverRuns


@dataclass(frozen=True)
class OsmefRow:
    """A row of the table."""

    connections: int
    published: PublishedRow  # of all runs
    kept: PublishedRow | None  # the same without runs of other machines; None where no run is left
    corrected: CorrectedRow | None  # likewise


@dataclass(frozen=True)
class Scenario:
    """The runs of a folder."""

    name: str
    runs: int
    machine: str  # of most runs; empty where files do not describe it
    left_out: dict[str, list[str]]  # other machine -> files of its runs
    like: dict[str, list[str]]  # other machine -> scenarios with most runs on it
    guard: Guard  # over all runs, in the order of time
    rows: list[OsmefRow]


@dataclass(frozen=True)
class OsmefTable:
    """All scenarios of a folder."""

    folder: str
    confidence: float
    scenarios: list[Scenario]


def osmef_table(
    folder: str, scenarios: Mapping[str, Sequence[OsmefRun]], connections: Sequence[int] = ()
) -> OsmefTable:
    """Return the table.

    Args:
        folder: of the runs, to be shown.
        scenarios: from `read_osmef`; the guard runs once for each, corrected for their number.
        connections: rows to return; empty for all.
    """
    usual = {
        name: Counter(run.machine for run in runs).most_common(1)[0][0] for name, runs in scenarios.items()
    }
    return OsmefTable(
        folder,
        0.95,
        [_scenario(name, runs, usual, connections) for name, runs in scenarios.items()],
    )


def _scenario(
    name: str, runs: Sequence[OsmefRun], usual: Mapping[str, str], connections: Sequence[int]
) -> Scenario:
    machine = usual[name]
    left_out: dict[str, list[str]] = {}
    for run in runs:
        if run.machine != machine:
            left_out.setdefault(run.machine, []).append(run.file)
    return Scenario(
        name=name,
        runs=len(runs),
        machine=machine,
        left_out=left_out,
        like={other: [scenario for scenario, of_it in usual.items() if of_it == other] for other in left_out},
        guard=_guard(runs, len(usual)),
        rows=_rows(runs, machine, connections, len(usual)),
    )


def _rows(runs: Sequence[OsmefRun], machine: str, connections: Sequence[int], among: int) -> list[OsmefRow]:
    # Runs that are left out must not look like a change of level among the others.
    kept = _guard([run for run in runs if run.machine == machine], among)
    rows = []
    for many in sorted({len(run.transfers) for run in runs}):
        if connections and many not in connections:
            continue
        pooled = [run for run in runs if len(run.transfers) == many]
        belong = [run for run in pooled if run.machine == machine]
        rows.append(
            OsmefRow(
                many,
                _published(pooled),
                _published(belong) if belong else None,
                _corrected(belong, kept) if belong else None,
            )
        )
    return rows


def _guard(runs: Sequence[OsmefRun], among: int) -> Guard:
    sums = PerTrial.of({run.file: _total(run) for run in runs})
    return matched_guard(sums, [len(run.transfers) for run in runs], among)


def _published(runs: Sequence[OsmefRun]) -> PublishedRow:
    rates, rx_cpu, tx_cpu = (
        np.array([[of(transfer) for transfer in run.transfers] for run in runs]) for of in _FIGURES
    )
    variation = _variation(rates.sum(axis=1))
    if rates.shape[1] == 1:
        cells = [(float(part.mean()), float(part.std())) for part in (rates, rx_cpu, tx_cpu)]
        return PublishedRow(len(runs), variation, cells[0][0], *cells[0], *cells[1], *cells[2], None)
    shares, rx, tx = (published_shares(part) for part in (rates, rx_cpu, tx_cpu))
    return PublishedRow(
        len(runs),
        variation,
        shares.total,
        shares.mean,
        shares.sd,
        rx.mean,
        rx.sd,
        tx.mean,
        tx.sd,
        shares.jain,
    )


_FIGURES: tuple[Callable[[OsmefTransfer], float], ...] = (
    lambda transfer: transfer.rate_mb_s,
    lambda transfer: transfer.rx_cpu_percent,
    lambda transfer: transfer.tx_cpu_percent,
)


def _corrected(runs: Sequence[OsmefRun], seen: Guard) -> CorrectedRow:
    def over_runs(of: Callable[[OsmefRun], float]) -> OverRuns:
        values = PerTrial.of({run.file: of(run) for run in runs})
        median: Estimate = quantile_interval(values, 0.5)
        if seen.refused and isinstance(median, Interval):
            median = RefusedInterval(0.5, median.confidence, median.n, median.estimate, seen)
        return OverRuns(median, min(values.values), max(values.values))

    several = len(runs[0].transfers) > 1
    return CorrectedRow(
        runs=len(runs),
        variation=_variation(np.array([_total(run) for run in runs])),
        total_mb_s=over_runs(_total),
        sd_mb_s=over_runs(lambda run: float(_rates(run).std())) if several else None,
        jain=over_runs(lambda run: jain_index(_rates(run))) if several else None,
        rx_cpu=over_runs(lambda run: float(np.mean([of.rx_cpu_percent for of in run.transfers]))),
        tx_cpu=over_runs(lambda run: float(np.mean([of.tx_cpu_percent for of in run.transfers]))),
    )


def _total(run: OsmefRun) -> float:
    """Return the volume of all connections over the time of the longest; for one connection, its rate."""
    if len(run.transfers) == 1:
        return run.transfers[0].rate_mb_s
    return sum(of.megabytes for of in run.transfers) / max(of.lasts_s for of in run.transfers)


def _rates(run: OsmefRun) -> NDArray[np.float64]:
    return np.array([transfer.rate_mb_s for transfer in run.transfers])


def _variation(values: NDArray[np.float64]) -> float | None:
    try:
        return coefficient_of_variation(values)
    except Refused:
        return None
