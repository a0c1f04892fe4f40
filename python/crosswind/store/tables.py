"""trials.parquet and metrics.parquet, rewritten from the journal after every trial."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crosswind.store.durable import replacing
from crosswind.store.journal import Journal
from crosswind.store.query import copy_to_parquet, query

_TRIALS = {
    "trial": "VARCHAR",
    "block": "INTEGER",
    "position": "INTEGER",
    "condition": "VARCHAR",
    "application": "VARCHAR",
    "status": "VARCHAR",
    "reason": "VARCHAR",
    "fidelity": "VARCHAR",
    "fidelity_reason": "VARCHAR",
    "started": "TIMESTAMPTZ",
    "duration_s": "DOUBLE",
    "attempt": "INTEGER",
    "seed": "BIGINT",
}
_METRICS = {
    "trial": "VARCHAR",
    "node": "VARCHAR",
    "metric": "VARCHAR",
    "unit": "VARCHAR",
    "statistic": "VARCHAR",
    "value": "DOUBLE",
}


def write_tables(folder: Path, journal: Journal) -> None:
    """Rewrite both tables from the journal, each at once, so a reader never sees half of one."""
    trials = [row.as_dict() for row in journal.rows()]
    metrics = [{"trial": trial, **metric._asdict()} for trial, metric in journal.metrics()]
    _write(folder / "trials.parquet", _TRIALS, trials)
    _write(folder / "metrics.parquet", _METRICS, metrics)


def _write(path: Path, columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> None:
    declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    marks = ", ".join("?" for _ in columns)
    with query() as connection, replacing(path) as temporary:
        connection.execute(f"CREATE TABLE rows ({declared})")
        if rows:
            connection.executemany(
                f"INSERT INTO rows VALUES ({marks})", [[row[column] for column in columns] for row in rows]
            )
        copy_to_parquet(connection, "SELECT * FROM rows", temporary)
