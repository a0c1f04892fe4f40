"""Short-lived DuckDB connections for writing and reading Parquet."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb


@contextmanager
def query() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give an in-memory connection of one thread, so the next trial finds no pool of workers winding down."""
    connection = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
    try:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    finally:
        connection.close()


def copy_to_parquet(connection: duckdb.DuckDBPyConnection, select: str, path: Path) -> None:
    """Write the result of a SELECT as Parquet; use a path from `durable.replacing`."""
    connection.execute(f"COPY ({select}) TO {literal(path)} (FORMAT parquet, COMPRESSION zstd)")


def literal(path: Path) -> str:
    """Quote a path as an SQL string."""
    return "'" + str(path).replace("'", "''") + "'"
