"""Queries of TPC-H and TPC-DS in sequence, as Spark SQL; texts and answers are stored with the tables.

Source: TPC-H and TPC-DS specifications; texts with the validation parameters, from DuckDB's extensions.
"""

import json
from pathlib import Path

from .answers import difference, plain_rows
from .job import Job, check
from .outcome import Checked
from .size import QueryNumbers


class Queries(Job[QueryNumbers]):
    """Size: `tables` (the folder that `make_tables.py` filled) and `queries` (their numbers).

    If the storage is not the local disk, tables are copied to it first, once for all runs.
    """

    def make_input(self) -> None:
        tables = Path(self.size.tables)
        self._queries = json.loads((tables / "queries.json").read_text())
        storage = self.input.rsplit("/", 2)[0]
        for file in tables.glob("*.parquet"):
            table = self.spark.read.parquet(f"file://{file}")
            if not storage.startswith("file:"):
                copy = f"{storage}/tables/{file.stem}"
                table.write.mode("ignore").parquet(copy)
                table = self.spark.read.parquet(copy)
            table.createOrReplaceTempView(file.stem)

    def run(self) -> None:
        self._rows = {}
        for number in self.size.queries:
            with self.part(f"q{number}"):
                self._rows[number] = self.spark.sql(self._queries[str(number)]["text"]).collect()

    def validate(self) -> Checked:
        for number, rows in self._rows.items():
            found = difference(plain_rows(rows), self._queries[str(number)]["rows"])
            check(found is None, f"query {number}: {found}")
        return {"rows": {f"q{number}": len(rows) for number, rows in self._rows.items()}}
