"""Latencies of a trial: the load generator's CSV becomes samples/<trial>.parquet and metrics.

Quantiles are of type 7 (linear between order statistics), as DuckDB's `quantile_cont`, NumPy and R compute
them. Only operations that succeeded in the measured phase count. Failed ones are counted as `errors`, and in
the share of slow ones, because many fail by a timeout. A row whose operation has a dot in its name is a part
of an operation that has its own row. It has metrics under its name, but is in no total and not in
samples/<trial>.parquet.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crosswind.errors import CrosswindError, Exit
from crosswind.results.disturbances import Disturbances
from crosswind.results.durable import replacing
from crosswind.results.measurement import SAME_CLOCK, ClockLine
from crosswind.results.query import copy_to_parquet, literal, query
from crosswind.results.ranged import MeasuredOperations
from crosswind.results.rows import Metric

if TYPE_CHECKING:
    import duckdb

_COLUMNS = (
    "{'operation': 'VARCHAR', 'connection': 'INTEGER', 'intended_ns': 'BIGINT', 'started_ns': 'BIGINT', "
    "'finished_ns': 'BIGINT', 'ok': 'TINYINT', 'measured': 'TINYINT'}"
)
# The columns of samples/<trial>.parquet.
SAMPLES = {
    "trial": "VARCHAR",
    "node": "VARCHAR",
    "operation": "VARCHAR",
    "connection": "INTEGER",
    "intended_ns": "BIGINT",
    "started_ns": "BIGINT",
    "finished_ns": "BIGINT",
    "ok": "BOOLEAN",
    "measured": "BOOLEAN",
}
_WHOLE = "NOT contains(operation, '.')"
SLOW_NS = 100_000_000  # between any plausible reply and Linux's smallest retransmission timeout of 200 ms
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class NoSamples(CrosswindError):
    """A load ended without a successful operation in its measured phase."""

    exit = Exit.TRIALS


def store_samples(
    csv: Path,
    trial: str,
    node: str,
    folder: Path,
    parameters: Mapping[str, object],
    disturbed: Disturbances,
    clock: ClockLine = SAME_CLOCK,
) -> list[Metric]:
    """Write samples/<trial>.parquet durably and return the metrics of its measured operations.

    Args:
        csv: the samples of docs/reference/contracts.md, section 4.
        trial: name of the attempt.
        node: the node that measured.
        folder: the folder of samples.
        parameters: of the load generator; an open loop has a `rate`.
        disturbed: what the machine did; it gives the metrics their ranges.
        clock: of the node's machine, on which the samples' instants are; those stored are on the clock of the
            measurement.
    Raises: NoSamples: no measured operation succeeded.
    """
    path = folder / f"{trial}.parquet"
    with query() as connection:
        connection.execute("CREATE TEMP TABLE header (trial VARCHAR, node VARCHAR)")
        connection.execute("INSERT INTO header VALUES (?, ?)", [trial, node])
        connection.execute(
            f"CREATE TEMP TABLE samples AS SELECT header.*, csv.* {_on_clock(clock)} FROM header, "
            f"read_csv({literal(csv)}, header = true, auto_detect = false, columns = {_COLUMNS}) AS csv"
        )
        open_loop = parameters.get("rate") is not None
        metrics = _metrics(connection, node, open_loop)
        metrics = _operations(connection, open_loop).ranged(metrics, _QUANTILES, SLOW_NS, disturbed)
        with replacing(path) as temporary:
            copy_to_parquet(
                connection,
                "SELECT trial, node, operation, connection, intended_ns, started_ns, finished_ns, "
                f"ok = 1 AS ok, measured = 1 AS measured FROM samples WHERE {_WHOLE}",
                temporary,
            )
    return metrics


def _on_clock(clock: ClockLine) -> str:
    """Return the end of a SELECT that translates the instants of `csv`."""
    if clock == SAME_CLOCK:
        return ""

    def here(column: str) -> str:
        since = f"({column} - {clock.there_ns})"
        # The product does not fit into 64 bits.
        gained = f"CAST({since}::HUGEINT * {clock.gained_ns} // {clock.over_ns + clock.gained_ns} AS BIGINT)"
        return f"{clock.here_ns} + {since} - {gained} AS {column}"

    return f"REPLACE ({', '.join(here(column) for column in ('intended_ns', 'started_ns', 'finished_ns'))})"


def _metrics(connection: duckdb.DuckDBPyConnection, node: str, open_loop: bool) -> list[Metric]:
    counted = connection.execute(
        "SELECT count(*) FILTER (ok = 1), count(*) FILTER (ok = 0), "
        "max(finished_ns) - min(started_ns), "
        f"count(*) FILTER (finished_ns - intended_ns > {SLOW_NS}) "
        f"FROM samples WHERE measured = 1 AND {_WHOLE}"
    ).fetchone()
    assert counted is not None
    operations, errors, span_ns, slow = counted
    if not operations:
        raise NoSamples(
            f"load on {node}: no operation succeeded in the measured phase ({errors} failed); see its log"
        )
    metrics = [
        Metric(node, "operations", "count", "count", operations),
        Metric(node, "errors", "count", "count", errors),
        Metric(node, "throughput", "1/s", "mean", operations / (span_ns / 1e9)),
    ]
    metrics += _latencies(connection, node, "latency", "finished_ns - started_ns")
    if open_loop:
        metrics += _latencies(connection, node, "response", "finished_ns - intended_ns")
    metrics.append(Metric(node, "slow", "share", "share", slow / (operations + errors)))
    return metrics


def _operations(connection: duckdb.DuckDBPyConnection, open_loop: bool) -> MeasuredOperations:
    """Return the measured operations and their parts."""
    measured = "FROM samples WHERE measured = 1"
    names = [name for (name,) in connection.execute(f"SELECT DISTINCT operation {measured}").fetchall()]
    table = connection.execute(
        "SELECT list_position(?, operation)::BIGINT - 1 AS kind, intended_ns, started_ns, finished_ns, "
        f"ok = 1 AS ok {measured}",
        [names],
    ).fetchnumpy()
    kind, intended_ns, started_ns, finished_ns, ok = (np.ma.getdata(column) for column in table.values())
    return MeasuredOperations(names, kind, intended_ns, started_ns, finished_ns, ok, open_loop)


def _latencies(connection: duckdb.DuckDBPyConnection, node: str, metric: str, duration: str) -> list[Metric]:
    """Return the statistics of a duration over all operations and, where there are several, by operation."""
    columns = ", ".join(f"quantile_cont(ns, {quantile})" for quantile in _QUANTILES.values())
    succeeded = f"(SELECT operation, {duration} AS ns FROM samples WHERE measured = 1 AND ok = 1)"
    rows = connection.execute(
        f"SELECT NULL, {columns}, max(ns), avg(ns) FROM {succeeded} WHERE {_WHOLE} UNION ALL "
        f"SELECT operation, {columns}, max(ns), avg(ns) FROM {succeeded} GROUP BY operation "
        "ORDER BY 1 NULLS FIRST"
    ).fetchall()
    names = [*_QUANTILES, "max", "mean"]
    return [
        Metric(node, metric if operation is None else f"{metric}.{operation}", "ns", name, float(value))
        for operation, *values in rows
        for name, value in zip(names, values, strict=True)
    ]
