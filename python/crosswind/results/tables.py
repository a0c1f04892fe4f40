"""trials.parquet and metrics.parquet, rewritten from the journal after every trial."""

from pathlib import Path

from crosswind.results.journal import Journal
from crosswind.results.query import write_rows
from crosswind.spec.resolved import Resolved

TRIALS = {
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
METRICS = {
    "trial": "VARCHAR",
    "node": "VARCHAR",
    "metric": "VARCHAR",
    "unit": "VARCHAR",
    "statistic": "VARCHAR",
    "value": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
}
# What the name of a factor's column ends with, by the factor's unit in resolved.json.
_SUFFIXES = {"bit/s": "_bps", "B": "_bytes", "ns": "_ns", "bit": "_bits", "share": "_share", "1": ""}


def write_tables(folder: Path, journal: Journal, resolved: Resolved) -> None:
    """Rewrite both tables from the journal; each is replaced as a whole, so a reader never sees half of one.

    Args:
        resolved: the resolved experiment, with the factors of each condition.
    """
    columns = factor_columns(resolved)
    levels = {
        condition.name: {columns[name]: level for name, level in condition.factors.items()}
        for condition in resolved.conditions
    }
    types = {
        columns[name]: "VARCHAR" if factor.unit is None else "DOUBLE"
        for name, factor in resolved.factors.items()
    }
    trials = [{**row.as_dict(), **levels[row.condition]} for row in journal.rows()]
    metrics = [{"trial": trial, **metric._asdict()} for trial, metric in journal.metrics()]
    write_rows(folder / "trials.parquet", TRIALS | types, trials)
    write_rows(folder / "metrics.parquet", METRICS, metrics)


def factor_columns(resolved: Resolved) -> dict[str, str]:
    """Return the column that each factor has in trials.parquet, such as `factor_delay_ns`."""
    return {
        name: f"factor_{name}{'' if factor.unit is None else _SUFFIXES.get(factor.unit, '')}"
        for name, factor in resolved.factors.items()
    }
