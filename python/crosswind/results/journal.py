"""The journal of a run: one row per step of an attempt, written while the run goes on.

SQLite runs in WAL mode with `synchronous=FULL`. A committed step survives a power cut, and a reader
(`crosswind report` during a run) never blocks the writer. A trial counts as finished only at `stored`.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self
from urllib.parse import quote

from pydantic import BaseModel, Field

from crosswind.errors import CrosswindError, Exit
from crosswind.results.documents import RUN_AGAIN, Damaged, blaming
from crosswind.results.rows import Metric, TrialRow, attempt_name

StepName = Literal[
    "planned", "started", "up", "prepared", "measured", "moved", "stored", "failed", "interrupted"
]
# An attempt has one of these, as its last step.
_ENDS = ("stored", "failed", "interrupted")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS steps (
    at TEXT NOT NULL,
    trial TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    step TEXT NOT NULL,
    detail TEXT NOT NULL
)
"""


class AlreadyEnded(CrosswindError):
    """A second end for one attempt, or a second result for one trial: nothing was written."""

    exit = Exit.INTERNAL


class Detail(BaseModel):
    """What `planned` and the last step of an attempt carry; only `stored` has metrics."""

    row: TrialRow
    metrics: list[Metric] = Field(default_factory=list)


@dataclass(frozen=True)
class JournalStep:
    """One entry.

    Attributes:
        trial: the planned name.
        attempt: from 1; 0 for `planned`.
        detail: JSON, `{}` where a step carries nothing. `moved` has the `at_ns` and `words` of a move by
            hand; it is written when the attempt ends.
    """

    at: str
    trial: str
    attempt: int
    step: StepName
    detail: str

    def carried(self) -> Detail:
        """Return the detail of a step that has one.

        Raises: ValueError: it has none, or is damaged.
        """
        return Detail.model_validate_json(self.detail)


class Journal:
    """journal.sqlite of a results folder."""

    def __init__(self, path: Path) -> None:
        # Steps of one run come from one thread; autocommit makes each of them a separate transaction.
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        with self._readable():
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute(_SCHEMA)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def write(
        self, trial: str, attempt: int, step: StepName, detail: Mapping[str, object] | None = None
    ) -> None:
        """Append a step durably."""
        self._append([(trial, attempt, step, detail or {})])

    def plan(self, rows: Iterable[TrialRow]) -> None:
        """Append the trials of a block as `planned`, all or none; their rows are `pending`."""
        self._append([(row.trial, 0, "planned", {"row": row.as_dict()}) for row in rows])

    def stored(self, planned: str, row: TrialRow, metrics: Iterable[Metric]) -> None:
        """Append `stored`: from this instant on the attempt is finished and never lost.

        Raises: AlreadyEnded: this attempt has ended, or an attempt of its trial counts already.
        """
        detail = {"row": row.as_dict(), "metrics": [list(metric) for metric in metrics]}
        self._end(planned, row, "stored", detail)

    def failed(self, planned: str, row: TrialRow) -> None:
        """Append `failed` or `interrupted`, whichever the row's status is; the row has the reason.

        Raises: AlreadyEnded: this attempt has ended.
        """
        self._end(
            planned, row, "interrupted" if row.status == "interrupted" else "failed", {"row": row.as_dict()}
        )

    def steps(self) -> list[JournalStep]:
        """Return every step in the order in which they were written.

        Raises: Damaged: the file is not as it was written.
        """
        return _steps(self._path, self._connection)

    def planned(self) -> list[TrialRow]:
        """Return the planned trials in order of position; each row is `pending`."""
        steps = self.steps()
        with self._readable():
            rows = [step.carried().row for step in steps if step.step == "planned"]
            return sorted(rows, key=lambda row: row.position)

    def attempts(self) -> dict[str, list[TrialRow]]:
        """Return the ended attempts of every planned trial, in order; the list may be empty."""
        ended: dict[str, list[TrialRow]] = {row.trial: [] for row in self.planned()}
        steps = self.steps()
        with self._readable():
            for step in steps:
                if step.step in _ENDS:
                    ended[step.trial].append(step.carried().row)
        return ended

    def rows(self) -> list[TrialRow]:
        """Return every ended attempt, and every trial without one as `pending`, in order of position."""
        attempts = self.attempts()
        return [row for planned in self.planned() for row in attempts[planned.trial] or [planned]]

    def metrics(self) -> list[tuple[str, Metric]]:
        """Return the metrics of every stored attempt, each with the attempt's name."""
        steps = self.steps()
        with self._readable():
            return [
                (stored.row.trial, metric)
                for stored in (step.carried() for step in steps if step.step == "stored")
                for metric in stored.metrics
            ]

    def record_interruptions(self) -> list[TrialRow]:
        """Record attempts that started and never ended as interrupted; return them.

        They remain where the command line, the agent or the machine was killed.
        """
        planned = {row.trial: row for row in self.planned()}
        begun: dict[tuple[str, int], str] = {}
        for step in self.steps():
            if step.step == "started":
                begun[step.trial, step.attempt] = step.at
            elif step.step in _ENDS:
                begun.pop((step.trial, step.attempt), None)
        interrupted = []
        for (trial, attempt), started in begun.items():
            row = replace(
                planned[trial],
                trial=attempt_name(trial, attempt),
                attempt=attempt,
                status="interrupted",
                reason="interrupted: the run ended before this trial was stored",
                started=started,
            )
            interrupted.append(row)
            self.failed(trial, interrupted[-1])
        return interrupted

    def _readable(self) -> AbstractContextManager[None]:
        return _readable(self._path)

    def _end(self, planned: str, row: TrialRow, step: StepName, detail: Mapping[str, object]) -> None:
        """Append the last step of an attempt, unless it has one.

        One transaction checks and writes, so this holds although another process may write the journal.
        """

        def check() -> None:
            for ended in self.attempts()[planned]:
                same = ended.attempt == row.attempt
                if same or (step == "stored" and ended.satisfies):
                    raise AlreadyEnded(
                        f"journal: {ended.trial} is {ended.status} already, so {row.trial} cannot become "
                        f"{row.status} as well; two processes wrote this folder; start a new run"
                    )

        self._append([(planned, row.attempt, step, detail)], check)

    def _append(
        self,
        entries: Iterable[tuple[str, int, StepName, Mapping[str, object]]],
        check: Callable[[], None] = lambda: None,
    ) -> None:
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            check()
            self._connection.executemany(
                "INSERT INTO steps VALUES (?, ?, ?, ?, ?)",
                [(at, trial, attempt, step, json.dumps(detail)) for trial, attempt, step, detail in entries],
            )
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk makes the COMMIT fail and SQLite may have rolled back by itself already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def read_steps(path: Path) -> list[JournalStep]:
    """Return every step of a journal, which another process may be writing; none where there is no file.

    Raises: Damaged: the file is not as it was written.
    """
    if not path.exists():
        return []
    with (
        _readable(path),
        closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection,
    ):
        return _steps(path, connection)


def _steps(path: Path, connection: sqlite3.Connection) -> list[JournalStep]:
    select = "SELECT at, trial, attempt, step, detail FROM steps ORDER BY rowid"
    with _readable(path):
        rows = connection.execute(select).fetchall()
        return [JournalStep(at, trial, attempt, step, detail) for at, trial, attempt, step, detail in rows]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Name the file when it is damaged; a full disk or a lock is not damage."""
    try:
        with blaming(path, RUN_AGAIN):
            yield
    except Damaged as damaged:
        if isinstance(damaged.__cause__, sqlite3.OperationalError):
            raise damaged.__cause__ from None
        raise
