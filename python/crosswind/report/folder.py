"""Read a results folder: tables as plain Python and numpy, one trial at a time where there is much of it.

Knows the layout of the folder (docs/reference/contracts.md, section 5) and nothing of statistics. A part that
a trial does not have (a failed trial has no samples) is answered with None or an empty table, never with an
error.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from crosswind.errors import CrosswindError


class NotAResultsFolder(CrosswindError):
    """The folder cannot be read as results; the message says what is missing and what to give instead."""


@dataclass(frozen=True)
class TrialRow:
    """One row of trials.parquet."""

    trial: str
    block: int
    position: int
    condition: str
    application: str
    status: str  # done, failed or pending
    reason: str | None
    fidelity: str | None  # faithful, degraded or void
    fidelity_reason: str | None
    started: datetime | None
    duration_s: float | None
    attempt: int
    seed: int | None


@dataclass(frozen=True)
class Operations:
    """The operations of one trial that were measured; every array has one entry per operation, instants in
    ns."""

    node: NDArray[Any]
    connection: NDArray[np.int64]
    intended_ns: NDArray[np.int64]
    started_ns: NDArray[np.int64]
    finished_ns: NDArray[np.int64]
    ok: NDArray[np.bool_]


@dataclass(frozen=True)
class PacketRow:
    """A recorded drop or retransmission; `element` and `reason` are those of a drop, `since_first_ns` that
    of a retransmission."""

    at_ns: int
    src: str
    dst: str
    tcp_seq: int | None
    payload_bytes: int
    element: str
    reason: str
    since_first_ns: int | None


@dataclass(frozen=True)
class HeldRow:
    """An acknowledgement that its node held back while the other end waited for it."""

    at_ns: int  # when it was sent
    node: str
    src: str
    dst: str
    held_ns: int


@dataclass(frozen=True)
class QueueRow:
    """An element in one step of the series: what it sent, and what it held at the end."""

    at_ns: int  # the beginning of the step
    element: str
    traffic: str  # real or ghost
    departed_bytes: int
    queued_bytes: int


@dataclass(frozen=True)
class HistogramRow:
    """One bin of what a monitor measured: low <= value < high; no high for the open one."""

    element: str
    what: str
    unit: str
    counts: str
    low: int
    high: int | None
    count: int


@dataclass(frozen=True)
class CounterRow:
    """What an element did to the application's packets in one step of the counters."""

    at_ns: int
    element: str
    departed_bytes: int
    queued_bytes: int  # at the end of the step, of interference too


@dataclass(frozen=True)
class TrendRow:
    """One step of a quantity's course over time."""

    element: str
    what: str
    unit: str
    at_ns: int
    step_ns: int
    mean: float
    greatest: int


class Results:
    """One run's results, to be read only; `crosswind.store` writes them.

    Args:
        path: the folder of a run, or the folder of an experiment, whose `latest` is then taken.
    Raises: NotAResultsFolder: there is no trials.parquet.
    """

    def __init__(self, path: Path) -> None:
        if not (path / "trials.parquet").exists() and (path / "latest" / "trials.parquet").exists():
            path = path / "latest"
        if not (path / "trials.parquet").exists():
            raise NotAResultsFolder(
                f"{path}: no trials.parquet in it; give the folder of one run, such as results/NAME/latest"
            )
        self.path = path

    @cached_property
    def resolved(self) -> dict[str, Any]:
        """The resolved experiment, {} if it is missing."""
        return _json(self.path / "resolved.json")

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """The machine before and after, {} if it is missing."""
        return _json(self.path / "provenance.json")

    @cached_property
    def trials(self) -> list[TrialRow]:
        """Trials in the order they ran."""
        rows = self._rows(
            "trials.parquet",
            "trial, block, position, condition, application, status, reason, fidelity, fidelity_reason, "
            "epoch_us(started::timestamptz), duration_s, attempt, seed",
            order="position, attempt",
        )
        return [TrialRow(*(*row[:9], _utc(row[9]), *row[10:])) for row in rows]

    @cached_property
    def metrics(self) -> Mapping[str, list[tuple[str | None, str, str, float]]]:
        """trial -> (node, metric, statistic, value), missing values left out."""
        metrics: dict[str, list[tuple[str | None, str, str, float]]] = {}
        if not (self.path / "metrics.parquet").exists():
            return metrics
        for trial, *row in self._rows("metrics.parquet", "trial, node, metric, statistic, value"):
            if row[3] is not None:
                metrics.setdefault(trial, []).append((row[0], row[1], row[2], row[3]))
        return metrics

    def operations(self, trial: str) -> Operations | None:
        """Return the measured operations of `trial`, or None if it has no samples."""
        path = self.path / "samples" / f"{trial}.parquet"
        if not path.exists():
            return None
        columns = "node, connection, intended_ns, started_ns, finished_ns, ok::boolean as ok"
        select = f"select {columns} from read_parquet(?) where measured::boolean"
        table = self._database.execute(select, [str(path)]).fetchnumpy()
        return Operations(*(np.ma.getdata(table[field]) for field in Operations.__dataclass_fields__))

    def measurement(self, trial: str) -> dict[str, Any]:
        """Return the measurement of `trial` less its tables, {} if it has none."""
        return _json(self.path / "monitors" / f"{trial}.json")

    def drops(self, trial: str) -> list[PacketRow]:
        """Return the recorded drops of `trial`, oldest first."""
        columns = "at_ns, src, dst, tcp_seq, payload_bytes, element, reason, null"
        return [PacketRow(*row) for row in self._monitor_rows(trial, "drops", columns)]

    def retransmissions(self, trial: str) -> list[PacketRow]:
        """Return the recorded retransmissions of `trial`, oldest first."""
        columns = "at_ns, src, dst, tcp_seq, payload_bytes, '', '', since_first_ns"
        return [PacketRow(*row) for row in self._monitor_rows(trial, "retransmissions", columns)]

    def held_acknowledgements(self, trial: str) -> list[HeldRow]:
        """Return the acknowledgements of `trial` that were held back, oldest first."""
        columns = "at_ns, node, src, dst, held_ns"
        return [HeldRow(*row) for row in self._monitor_rows(trial, "held_acknowledgements", columns)]

    def queues(self, trial: str) -> list[QueueRow]:
        """Return what the elements of `trial` held and sent, step by step, oldest first."""
        columns = 'at_ns, element, "class", departed_bytes, queued_bytes'
        return [QueueRow(*row) for row in self._monitor_rows(trial, "counters", columns)]

    def interference(self, trial: str) -> list[tuple[str, int, float | None]]:
        """Return the interference of `trial`: source, instant in ns, rate in bit/s from then on.

        A rate of None is unlimited.
        """
        return self._monitor_rows(trial, "interference", "source, at_ns, rate_bps")

    def histograms(self, trial: str) -> list[HistogramRow]:
        """Return the bins that the monitors of `trial` filled, none where it has no monitors."""
        columns = 'element, what, unit, counts, low, high, "count"'
        return [
            HistogramRow(*row)
            for row in self._monitor_rows(trial, "histograms", columns, order="what, element, low")
        ]

    def counters(self, trial: str) -> list[CounterRow]:
        """Return what the elements of `trial` counted in each step in which something happened."""
        columns = "at_ns, element, departed_bytes, queued_bytes"
        rows = self._monitor_rows(trial, "counters", f"class, {columns}")
        return [CounterRow(*row) for kind, *row in rows if kind == "real"]

    def trends(self, trial: str) -> list[TrendRow]:
        """Return the courses over time that the monitors of `trial` kept."""
        columns = 'element, what, unit, at_ns, step_ns, mean, "max"'
        return [TrendRow(*row) for row in self._monitor_rows(trial, "trends", columns)]

    def logs(self, trial: str) -> Path | None:
        """Return the folder of the logs of `trial`, relative to the results folder, if there is one."""
        path = Path("logs") / trial
        return path if (self.path / path).is_dir() else None

    def _monitor_rows(self, trial: str, table: str, columns: str, order: str = "at_ns") -> list[Any]:
        name = f"monitors/{trial}.{table}.parquet"
        return self._rows(name, columns, order=order) if (self.path / name).exists() else []

    def _rows(self, name: str, columns: str, order: str = "1") -> list[Any]:
        select = f"select {columns} from read_parquet(?) order by {order}"
        try:
            return self._database.execute(select, [str(self.path / name)]).fetchall()
        except duckdb.Error as error:
            raise NotAResultsFolder(
                f"{self.path / name}: {error}; it does not follow the results format, version 1"
            ) from error

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        """One connection for all files: a new one takes 20 ms, and a large run has thousands of files."""
        database = duckdb.connect()
        database.execute("set timezone = 'UTC'")
        return database


def _json(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    loaded = json.loads(path.read_text(encoding="utf-8"))
    return loaded if isinstance(loaded, dict) else {}


def _utc(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else datetime.fromtimestamp(microseconds / 1e6, UTC)
