"""The results of a run: tables for queries, and the answers of the report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb
import numpy as np
from pydantic import JsonValue

from crosswind.analysis.profile import Surface, profile_of
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Summary
from crosswind.errors import CrosswindError
from crosswind.results.documents import FROM_JOURNAL, WITHOUT_IT, blaming
from crosswind.results.journal import read_steps
from crosswind.results.monitors import TABLES
from crosswind.results.query import literal
from crosswind.results.reading import Results
from crosswind.results.samples import SAMPLES
from crosswind.results.tables import METRICS
from crosswind.spec import Resolved
from crosswind.text.nearest import did_you_mean


def load(folder: str | os.PathLike[str]) -> LoadedRun:
    """Return the results of a run, to be read.

    Args:
        folder: of a run, or of an experiment, whose latest run is then taken.
    Raises: NotAResultsFolder: it is neither; the message names what to give instead.
    """
    return LoadedRun(folder)


class LoadedRun:
    """The results of one run.

    Tables are DuckDB relations: `.fetchall()` gives rows, `.df()` a frame of pandas, `.pl()` one of polars
    (where these are installed), and `.filter(...)`, `.aggregate(...)`, `.order(...)` or `.query(...)` build
    a query first, of which only the result is read. Instants are in UTC, without a time zone. All tables of
    one run can be joined; the files are never written.

    Args:
        folder: as for `crosswind.load`.

    Attributes:
        folder: the folder of the run.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._results = Results(Path(folder))
        self.folder = self._results.path
        self._connection = duckdb.connect(config={"autoinstall_known_extensions": False})
        self._connection.execute("SET TimeZone = 'UTC'")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LoadedRun({str(self.folder)!r})"

    def close(self) -> None:
        """Close the connection that all tables share; none of them can be read afterwards."""
        self._connection.close()

    @property
    def trials(self) -> duckdb.DuckDBPyRelation:
        """One row for each attempt of a trial: `trial`, `condition`, `status`, `fidelity`, `factor_...`.

        `status` is `done`, `failed`, `interrupted` or `pending`; `fidelity` is `faithful`, `degraded`,
        `unverified`, `void` or null.
        """
        path = self.folder / "trials.parquet"
        with blaming(path, FROM_JOURNAL):
            return self._connection.sql(
                "SELECT * REPLACE (started::TIMESTAMPTZ AT TIME ZONE 'UTC' AS started) "
                f"FROM read_parquet({literal(path)})"
            )

    @property
    def metrics(self) -> duckdb.DuckDBPyRelation:
        """The numbers of each trial: `trial`, `node`, `metric`, `unit`, `statistic`, `value`, `low`, `high`.

        `low` and `high`: what the value may have been without the machine's disturbances. Runs of versions
        that did not store this lack both columns.
        """
        return self._table([self.folder / "metrics.parquet"], METRICS, FROM_JOURNAL)

    @property
    def monitors(self) -> Monitors:
        """What the network did to packets, a table for each kind of record."""
        return Monitors(self)

    @property
    def journal(self) -> duckdb.DuckDBPyRelation:
        """The steps of every attempt, in their order: `at`, `trial`, `attempt`, `step`, `detail` (JSON)."""
        rows = [
            (step.at, step.trial, step.attempt, step.step, step.detail)
            for step in read_steps(self.folder / "journal.sqlite")
        ]
        names = ("at", "trial", "attempt", "step", "detail")
        self._connection.register(
            "journal_steps",
            {name: np.array([row[at] for row in rows], dtype=object) for at, name in enumerate(names)},
        )
        return self._connection.sql(
            'SELECT "at"::VARCHAR::TIMESTAMPTZ AT TIME ZONE \'UTC\' AS "at", trial::VARCHAR AS trial, '
            "attempt::INTEGER AS attempt, step::VARCHAR AS step, detail::VARCHAR AS detail FROM journal_steps"
        )

    def operations(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return a row for each operation of the load, warm-up included (`measured` is false there).

        Columns: `trial`, `node`, `operation`, `connection`, `intended_ns`, `started_ns`, `finished_ns`, `ok`,
        `measured`. Instants are of CLOCK_MONOTONIC; the measured phase begins at `load.started_ns` of
        `monitors/<trial>.json`. An operation took `finished_ns - intended_ns`; from `started_ns` on it leaves
        out how long it waited for its client. Attempts that do not count are included: `.trials` says which
        are void or failed. There are no rows where the application stores no operations.

        Args:
            trial: one trial; all of them when absent.
        Raises: CrosswindError: the run has no such trial.
        """
        return self._table(self._files("samples", "", trial), SAMPLES, WITHOUT_IT)

    @cached_property
    def summary(self) -> Summary:
        """The answers of the report: estimates with intervals, ratios, causes of slow operations."""
        return summarise(self.folder)

    @cached_property
    def profile(self) -> Surface | None:
        """Performance over the factors of the experiment; None without a factor that is a quantity."""
        return profile_of(self.summary)

    @property
    def resolved(self) -> Resolved:
        """The experiment as it was run, in SI units (resolved.json)."""
        return self._results.resolved

    @property
    def provenance(self) -> dict[str, JsonValue]:
        """The machine before and after the trials (provenance.json)."""
        return self._results.provenance.as_json()

    def _monitor(self, table: str, trial: str | None) -> duckdb.DuckDBPyRelation:
        files = self._files("monitors", f".{table}", trial)
        return self._table(files, TABLES[table], WITHOUT_IT, named=f".{table}.parquet")

    def _files(self, part: str, kind: str, trial: str | None) -> list[Path]:
        """Return the files of one kind, of one trial or of all of them."""
        trials = [row.trial for row in self._results.trials]
        if trial is not None and trial not in trials:
            remedy = did_you_mean(trial, trials) or "`.trials` lists them"
            raise CrosswindError(f'{self.folder}: has no trial "{trial}"; {remedy}')
        names = trials if trial is None else [trial]
        return [self.folder / part / f"{name}{kind}.parquet" for name in names]

    def _table(
        self, files: Iterable[Path], columns: Mapping[str, str], remedy: str, named: str | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return the rows of all files that are there.

        Args:
            columns: name and type; of a table without rows.
            named: what follows the trial in the names of files that do not have it as a column.
        """
        present = [path for path in files if path.exists()]
        if not present:
            types = columns if named is None else {"trial": "VARCHAR", **columns}
            listed = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in types.items())
            return self._connection.sql(f"SELECT {listed} WHERE false")
        paths = ", ".join(map(literal, present))
        trial = "" if named is None else f"replace(parse_filename(filename), '{named}', '') AS trial, "
        with blaming(present[0].parent if len(present) > 1 else present[0], remedy):
            return self._connection.sql(
                f"SELECT {trial}* EXCLUDE (filename) "
                f"FROM read_parquet([{paths}], filename = true, union_by_name = true)"
            )


class Monitors:
    """Tables of what the network did to packets; each has a column `trial`, and instants in ns (`at_ns`)."""

    def __init__(self, run: LoadedRun) -> None:
        self._run = run

    def counters(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return bytes and packets that arrived at, left and waited in each element, step by step."""
        return self._run._monitor("counters", trial)

    def credit(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return what each credit bucket held at the end of each step that changed it (`left_bits`)."""
        return self._run._monitor("credit", trial)

    def drops(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return the packets that were dropped, with `element` and `reason`."""
        return self._run._monitor("drops", trial)

    def retransmissions(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return the TCP segments that nodes sent again, with the time since they were first sent."""
        return self._run._monitor("retransmissions", trial)

    def held_acknowledgements(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return the acknowledgements that a node delayed while the sender waited."""
        return self._run._monitor("held_acknowledgements", trial)

    def histograms(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return the bins of what `monitor` elements measured: `low <= value < high`."""
        return self._run._monitor("histograms", trial)

    def trends(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return what `monitor` elements measured over time."""
        return self._run._monitor("trends", trial)

    def interference(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return the rates of competing traffic; a null is unlimited."""
        return self._run._monitor("interference", trial)

    def capacity(self, trial: str | None = None) -> duckdb.DuckDBPyRelation:
        """Return the rates of links whose capacity changes; a null is unlimited."""
        return self._run._monitor("capacity", trial)
