"""DuckDB connections for writing and reading Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_core import to_json

from crosswind.results.durable import replacing

if TYPE_CHECKING:
    import duckdb


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """Return the database in memory of this process, which has no tables: a new one takes 10 ms each time.

    It has one thread: a pool of workers could still run in the next trial.
    """
    # Imported here: a verb that writes no table starts 0.1 s sooner.
    import duckdb

    database = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    return database


@contextmanager
def query() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection that reads and writes files; its tables must be temporary ones, which end with it."""
    connection = _database().cursor()
    try:
        yield connection
    finally:
        connection.close()


def copy_to_parquet(connection: duckdb.DuckDBPyConnection, select: str, path: Path) -> None:
    """Write the result of a SELECT as Parquet; use a path from `durable.replacing`."""
    connection.execute(f"COPY ({select}) TO {literal(path)} (FORMAT parquet, COMPRESSION zstd)")


def write_rows(path: Path, columns: Mapping[str, str], rows: Iterable[object]) -> None:
    """Write rows as Parquet, durably and as a whole.

    DuckDB reads them from a file of JSON lines, which is a hundred times faster than inserting row by row.

    Args:
        columns: name -> SQL type; declared, so that a table without rows has them too.
        rows: mappings or dataclasses; a key that a row lacks is null, and others are left out.
    """
    json_lines = path.with_name(f".{path.name}.json.part")
    try:
        with json_lines.open("wb") as out:
            out.writelines(to_json(row, by_alias=True) + b"\n" for row in rows)
        types = ", ".join(f"{column}: '{kind}'" for column, kind in columns.items())
        options = f"format = 'newline_delimited', columns = {{{types}}}"
        with query() as connection, replacing(path) as temporary:
            source = f"SELECT * FROM read_json({literal(json_lines)}, {options})"
            copy_to_parquet(connection, source, temporary)
    finally:
        json_lines.unlink(missing_ok=True)


def literal(path: Path) -> str:
    """Quote a path as an SQL string."""
    return "'" + str(path).replace("'", "''") + "'"
