"""Make the tables of TPC-H or TPC-DS as Parquet files, and all queries with their answers, with DuckDB.

    python -m jobs.make_tables tpch|tpcds SCALE FOLDER

FOLDER/TABLE.parquet is a table; FOLDER/queries.json is `{"3": {"text": "select ...", "rows": [[...],
...]}}`. The answers are those of DuckDB on the same data; another engine must return the same rows.
"""

import json
import sys
from pathlib import Path

import duckdb

from .answers import plain_rows

GENERATORS = {"tpch": "dbgen", "tpcds": "dsdgen"}


def main() -> None:
    benchmark, scale, folder = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    connection = duckdb.connect(str(folder / "making.duckdb"))
    connection.execute(f"LOAD {benchmark}")
    connection.execute(f"CALL {GENERATORS[benchmark]}(sf = {scale})")
    for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        connection.execute(f"COPY {table} TO '{folder}/{table}.parquet' (FORMAT parquet)")
    queries = connection.execute(f"SELECT query_nr, query FROM {benchmark}_queries()").fetchall()
    answered = {
        number: {"text": text.rstrip("; \n"), "rows": plain_rows(connection.execute(text).fetchall())}
        for number, text in queries
    }
    connection.close()
    (folder / "making.duckdb").unlink()
    (folder / "queries.json").write_text(json.dumps(answered))


if __name__ == "__main__":
    main()
