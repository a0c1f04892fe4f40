"""trials.parquet and metrics.parquet, rewritten from the journal after every trial."""

from pathlib import Path

from crosswind.store.journal import Journal
from crosswind.store.query import write_rows

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
    write_rows(folder / "trials.parquet", _TRIALS, trials)
    write_rows(folder / "metrics.parquet", _METRICS, metrics)
