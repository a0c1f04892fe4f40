"""Read a results folder: tables as Python objects and NumPy arrays, large ones for one trial at a time.

Knows the layout of the folder (docs/reference/contracts.md, section 5) and no statistics. A part that a trial
does not have (a failed trial has no samples) is None or an empty table, never an error.
"""

import glob
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
from crosswind.results.documents import (
    FROM_JOURNAL,
    WITHOUT_IT,
    Damaged,
    blaming,
    read_document,
    read_resolved,
)
from crosswind.results.measurement import BucketRow, HeldRow, Measurement
from crosswind.results.provenance import Provenance
from crosswind.spec.resolved import Resolved

# The cells of a row that DuckDB read: the SELECT says of which types they are.
_Cells = tuple[Any, ...]


class NotAResultsFolder(CrosswindError):
    """The folder cannot be read as results; the message says what is missing and what to give instead."""


@dataclass(frozen=True)
class StoredTrial:
    """One row of trials.parquet."""

    trial: str
    block: int
    position: int
    condition: str
    application: str
    status: str  # done, failed, interrupted or pending
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

    node: NDArray[np.object_]
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
class QueueRow:
    """An element in one step of the series: what it sent and dropped, and what it held at the end."""

    at_ns: int  # the beginning of the step
    element: str
    traffic: str  # real or ghost
    departed_bytes: int
    dropped_packets: int
    queued_bytes: int


@dataclass(frozen=True)
class HistogramRow:
    """One bin of a monitor's histogram: low <= value < high; no high for the open one."""

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
    """One step of a quantity over time."""

    element: str
    what: str
    unit: str
    at_ns: int
    step_ns: int
    mean: float
    greatest: int


class Results:
    """One run's results, read only.

    Args:
        path: the folder of a run, or the folder of an experiment, whose `latest` is then taken.
    Raises: NotAResultsFolder: there is no trials.parquet.
    """

    def __init__(self, path: Path) -> None:
        if not (path / "trials.parquet").exists() and (path / "latest" / "trials.parquet").exists():
            path = path / "latest"
        if not (path / "trials.parquet").exists():
            what = "no trials.parquet in it" if path.is_dir() else "a file" if path.exists() else "not there"
            raise NotAResultsFolder(f"{path}: {what}; give the folder of a run, such as results/NAME/latest")
        self.path = path
        self._measured: tuple[str, Measurement | None] | None = None

    @cached_property
    def resolved(self) -> Resolved:
        """The resolved experiment; if the file is missing, one with defaults."""
        path = self.path / "resolved.json"
        return read_resolved(path) if path.exists() else Resolved.unknown()

    @cached_property
    def provenance(self) -> Provenance:
        """The machine before and after; neither where the file is missing."""
        path = self.path / "provenance.json"
        return read_document(path, Provenance, WITHOUT_IT) if path.exists() else Provenance()

    @cached_property
    def trials(self) -> list[StoredTrial]:
        """Trials in the order they ran."""
        rows = self._rows(
            "trials.parquet",
            "trial, block, position, condition, application, status, reason, fidelity, fidelity_reason, "
            "epoch_us(started::timestamptz), duration_s::double, attempt, seed",
            order="position, attempt",
        )
        trials = [StoredTrial(*(*row[:9], _utc(row[9]), *row[10:])) for row in rows]
        for name in ("trial", "block", "position", "condition", "status", "attempt"):
            if any(getattr(row, name) is None for row in trials):
                raise Damaged(self.path / "trials.parquet", f"a row has no {name}", FROM_JOURNAL)
        return trials

    @cached_property
    def metrics(self) -> Mapping[str, list[tuple[str | None, str, str, float]]]:
        """trial -> (node, metric, statistic, value), missing values left out."""
        metrics: dict[str, list[tuple[str | None, str, str, float]]] = {}
        if not (self.path / "metrics.parquet").exists():
            return metrics
        for trial, *row in self._rows(
            "metrics.parquet",
            "trial::varchar, node::varchar, metric::varchar, statistic::varchar, value::double",
        ):
            if row[3] is not None:
                metrics.setdefault(trial, []).append((row[0], row[1], row[2], row[3]))
        return metrics

    @cached_property
    def ranges(self) -> Mapping[str, dict[tuple[str, str], tuple[float, float]]]:
        """trial -> (metric, statistic) -> least and greatest value without the machine's disturbances.

        Ranges of several nodes are added up, as their values are. Older folders have none.
        """
        path = self.path / "metrics.parquet"
        if not path.exists():
            return {}
        with blaming(path, FROM_JOURNAL):
            columns = self._database.execute("select name from parquet_schema(?)", [str(path)]).fetchall()
        if ("low",) not in columns:
            return {}
        # A metric of several nodes has a range where each of them has one.
        typed = (
            "trial::varchar, metric::varchar, statistic::varchar, low::double, high::double, value::double"
        )
        rows = self._rows("metrics.parquet", typed)
        ranges: dict[str, dict[tuple[str, str], tuple[float, float]]] = {}
        unknown = set()
        for trial, metric, statistic, low, high, value in rows:
            if value is None or low is None or high is None:
                unknown.add((trial, metric, statistic))
                continue
            of_trial = ranges.setdefault(trial, {})
            before = of_trial.get((metric, statistic), (0.0, 0.0))
            of_trial[metric, statistic] = before[0] + low, before[1] + high
        for trial, metric, statistic in unknown:
            ranges.get(trial, {}).pop((metric, statistic), None)
        return ranges

    @cached_property
    def units(self) -> Mapping[tuple[str, str], str]:
        """(metric, statistic) -> unit, of everything that some trial stored."""
        if not (self.path / "metrics.parquet").exists():
            return {}
        rows = self._rows("metrics.parquet", "distinct metric::varchar, statistic::varchar, unit::varchar")
        return {(metric, statistic): unit for metric, statistic, unit in rows}

    def operations(self, trial: str) -> Operations | None:
        """Return the measured operations of `trial`, or None if it has no samples."""
        path = self.path / "samples" / f"{trial}.parquet"
        if not path.exists():
            return None
        columns = (
            "node::varchar as node, connection::bigint as connection, intended_ns::bigint as intended_ns, "
            "started_ns::bigint as started_ns, finished_ns::bigint as finished_ns, ok::boolean as ok"
        )
        select = f"select {columns} from read_parquet(?) where measured::boolean"
        with blaming(path, WITHOUT_IT):
            table = self._database.execute(select, [str(path)]).fetchnumpy()
            if any(np.ma.getmaskarray(column).any() for column in table.values()):
                raise ValueError("a row lacks a value that every row has")
            return Operations(*(np.ma.getdata(table[field]) for field in Operations.__dataclass_fields__))

    def measurement(self, trial: str) -> Measurement | None:
        """Return the measurement of `trial` without its tables, or None if it has none.

        The last one is remembered: answers about a trial ask for it several times.
        """
        if self._measured is None or self._measured[0] != trial:
            path = self.path / "monitors" / f"{trial}.json"
            found = read_document(path, Measurement, WITHOUT_IT) if path.exists() else None
            self._measured = trial, found
        return self._measured[1]

    def drops(self, trial: str) -> list[PacketRow]:
        """Return the recorded drops of `trial`, oldest first."""
        columns = (
            "at_ns::bigint, src::varchar, dst::varchar, payload_bytes::bigint, element::varchar, "
            "reason::varchar, tcp_seq::bigint"
        )
        rows = self._monitor_rows(trial, "drops", columns, may_be_null=1)
        return [
            PacketRow(at, src, dst, seq, size, of, why, None) for at, src, dst, size, of, why, seq in rows
        ]

    def retransmissions(self, trial: str) -> list[PacketRow]:
        """Return the recorded retransmissions of `trial`, oldest first."""
        columns = (
            "at_ns::bigint, src::varchar, dst::varchar, payload_bytes::bigint, tcp_seq::bigint, "
            "since_first_ns::bigint"
        )
        rows = self._monitor_rows(trial, "retransmissions", columns, may_be_null=2)
        return [PacketRow(at, src, dst, seq, size, "", "", since) for at, src, dst, size, seq, since in rows]

    def held_acknowledgements(self, trial: str) -> list[HeldRow]:
        """Return the acknowledgements of `trial` that were held back, oldest first."""
        columns = "at_ns::bigint, node::varchar, src::varchar, dst::varchar, held_ns::bigint"
        return [HeldRow(*row) for row in self._monitor_rows(trial, "held_acknowledgements", columns)]

    def queues(self, trial: str) -> list[QueueRow]:
        """Return what the elements of `trial` sent, dropped and held, step by step, oldest first."""
        columns = (
            'at_ns::bigint, element::varchar, "class"::varchar, departed_bytes::bigint, '
            "dropped_packets::bigint, queued_bytes::bigint"
        )
        return [QueueRow(*row) for row in self._monitor_rows(trial, "counters", columns)]

    def credit(self, trial: str) -> list[BucketRow]:
        """Return what the credit buckets of `trial` held, at each step that changed it, oldest first.

        Older folders have none.
        """
        columns = "at_ns::bigint, element::varchar, left_bits::bigint"
        return [BucketRow(*row) for row in self._monitor_rows(trial, "credit", columns)]

    def interference(self, trial: str) -> list[tuple[str, int, float | None]]:
        """Return the interference of `trial`: source, instant in ns, rate in bit/s from then on.

        A rate of None is unlimited.
        """
        columns = "source::varchar, at_ns::bigint, rate_bps::bigint"
        return self._monitor_rows(trial, "interference", columns, may_be_null=1)

    def capacity(self, trial: str) -> list[tuple[str, int, int | None]]:
        """Return the rates of links that changed in `trial`: link, instant in ns, wire rate in bit/s.

        A rate of None is unlimited, 0 an outage.
        """
        columns = "link::varchar, at_ns::bigint, rate_bps::bigint"
        return self._monitor_rows(trial, "capacity", columns, may_be_null=1)

    def histograms(self, trial: str) -> list[HistogramRow]:
        """Return the bins of the histograms of `trial`; none where it has no monitors."""
        columns = (
            "element::varchar, what::varchar, unit::varchar, counts::varchar, low::bigint, "
            '"count"::bigint, high::bigint'
        )
        rows = self._monitor_rows(trial, "histograms", columns, may_be_null=1, order="what, element, low")
        return [
            HistogramRow(element, what, unit, counts, low, high, count)
            for element, what, unit, counts, low, count, high in rows
        ]

    def counters(self, trial: str) -> list[CounterRow]:
        """Return what the elements of `trial` counted in each step in which something happened."""
        return [
            CounterRow(row.at_ns, row.element, row.departed_bytes, row.queued_bytes)
            for row in self.queues(trial)
            if row.traffic == "real"
        ]

    def trends(self, trial: str) -> list[TrendRow]:
        """Return the values over time that the monitors of `trial` stored."""
        columns = (
            "element::varchar, what::varchar, unit::varchar, at_ns::bigint, step_ns::bigint, mean::double, "
            '"max"::bigint'
        )
        return [TrendRow(*row) for row in self._monitor_rows(trial, "trends", columns)]

    def logs(self, trial: str) -> Path | None:
        """Return the folder of the logs of `trial`, relative to the results folder, if there is one."""
        path = Path("logs") / trial
        return path if (self.path / path).is_dir() else None

    def files(self, trial: str) -> list[tuple[str, str]]:
        """Return what `trial` stored, as names and paths relative to the results folder."""
        tables = ("counters", "credit", "drops", "retransmissions", "interference", "trends", "histograms")
        paths = {
            "operations": f"samples/{trial}.parquet",
            "measurement": f"monitors/{trial}.json",
            **{table: f"monitors/{trial}.{table}.parquet" for table in tables},
            "logs": f"logs/{trial}/",
        }
        stored = [(name, path) for name, path in paths.items() if (self.path / path).exists()]
        outputs = sorted((self.path / "outputs").glob(f"{glob.escape(trial)}.*"))
        return [*stored, *((file.name.removeprefix(f"{trial}."), f"outputs/{file.name}") for file in outputs)]

    def _monitor_rows(
        self, trial: str, table: str, columns: str, *, may_be_null: int = 0, order: str = "at_ns"
    ) -> list[_Cells]:
        """Return rows of a table of monitors; only the last `may_be_null` columns may be null."""
        name = f"monitors/{trial}.{table}.parquet"
        if not (self.path / name).exists():
            return []
        rows = self._rows(name, columns, order, WITHOUT_IT)
        if any(None in row[: len(row) - may_be_null] for row in rows):
            raise Damaged(self.path / name, "a row lacks a value that every row has", WITHOUT_IT)
        return rows

    def _rows(self, name: str, columns: str, order: str = "1", remedy: str = FROM_JOURNAL) -> list[_Cells]:
        select = f"select {columns} from read_parquet(?) order by {order}"
        with blaming(self.path / name, remedy):
            return self._database.execute(select, [str(self.path / name)]).fetchall()

    @cached_property
    def _database(self) -> duckdb.DuckDBPyConnection:
        """One connection for all files: a connection takes 20 ms, and a large run has thousands of files."""
        database = duckdb.connect()
        database.execute("set timezone = 'UTC'")
        return database


def _utc(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else datetime.fromtimestamp(microseconds / 1e6, UTC)
