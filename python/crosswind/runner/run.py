"""A run: every planned trial, stored as it ends; begun anew or continued."""

import contextlib
import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from crosswind.app import Application
from crosswind.errors import CrosswindError, Exit
from crosswind.plan import Trial, next_block, planned
from crosswind.plan.outline import trial_s
from crosswind.runner.attempt import Attempt, planned_row
from crosswind.runner.disk import DiskFull, is_disk_full
from crosswind.runner.growth import too_wide
from crosswind.runner.interruption import Interrupted, Interruption
from crosswind.runner.machine import check_same_machine, machine_now
from crosswind.runner.outcome import Outcome, judge_run
from crosswind.runner.preflight import application_of, preflight
from crosswind.runner.progress import Progress
from crosswind.runner.trial import prepare_application
from crosswind.spec import load_experiment, resolve
from crosswind.store import Journal, ResultsFolder, TrialRow, write_tables
from crosswind.testbed import Hello, WorkFolder

# A void trial says that the machine was disturbed; three disturbed attempts in a row say that it will stay
# so.
ATTEMPTS_MAX = 3


class ExperimentChanged(CrosswindError):
    """A run cannot be continued: its experiment means something else now."""

    exit = Exit.USAGE


def run(
    resolved: Mapping[str, Any], source_text: str, source_folder: Path, results: Path, progress: Progress
) -> Outcome:
    """Run a resolved experiment from its first trial to its last.

    Args:
        resolved: from `crosswind.spec.resolve`.
        source_text: the experiment file as written, kept with the results.
        source_folder: where it lies; its git commit is recorded.
        results: the folder of all results.
    Raises: CrosswindError: the machine cannot do it; nothing was started and no folder made.
    """
    hello = preflight(resolved)
    application = application_of(resolved)
    now = machine_now(resolved, application, hello, source_folder)
    folder = ResultsFolder.create(results, resolved, source_text)
    folder.write_provenance(before=now)
    with folder.journal() as journal:
        journal.plan(planned_row(trial, resolved) for trial in planned(dict(resolved)))
        outcome = _Run(resolved, application, folder, journal, progress).execute()
    _write_after(folder, resolved, application, hello, source_folder)
    return outcome


def resume(path: Path, progress: Progress) -> Outcome:
    """Continue a run: trials that are stored and believable stay, all others are run.

    Raises:
        ExperimentChanged: experiment.yaml resolves to something else than when the run started.
        MachineChanged: the machine's fingerprint differs.
    """
    folder = ResultsFolder.open(path)
    resolved = folder.resolved()
    again = json.loads(json.dumps(resolve(load_experiment(folder.path / "experiment.yaml"))))
    if again != resolved:
        differing = ", ".join(key for key in resolved if resolved[key] != again.get(key))
        raise ExperimentChanged(
            f"{folder.path}/experiment.yaml: its meaning changed since the run started ({differing}); "
            "undo the change, or start a new run"
        )
    hello = preflight(resolved)
    application = application_of(resolved)
    now = machine_now(resolved, application, hello, folder.path)
    before = folder.provenance()["before"]
    if before is None:
        folder.write_provenance(before=now)
    else:
        check_same_machine(before, now)
    folder.remove_partial_files()
    with folder.journal() as journal:
        if not journal.planned():
            journal.plan(planned_row(trial, resolved) for trial in planned(resolved))
        journal.record_interruptions()
        outcome = _Run(resolved, application, folder, journal, progress).execute()
    _write_after(folder, resolved, application, hello, folder.path)
    return outcome


def _write_after(
    folder: ResultsFolder, resolved: Mapping[str, Any], application: Application, hello: Hello, source: Path
) -> None:
    """Record the machine after the last trial, where there is room for it."""
    with contextlib.suppress(OSError):
        folder.write_provenance(after=machine_now(resolved, application, hello, source))


class _Stopped(CrosswindError):
    """The experiment itself says that the run ends here."""


class _Run:
    """One sitting: from the first trial that still has to run to the last, or to what stops it."""

    def __init__(
        self,
        resolved: Mapping[str, Any],
        application: Application,
        folder: ResultsFolder,
        journal: Journal,
        progress: Progress,
    ) -> None:
        self._resolved = dict(resolved)
        self._application = application
        self._folder = folder
        self._journal = journal
        self._progress = progress
        self._limits = resolved["trials"]["limits"]
        self._interruption = Interruption()
        self._tries: Counter[str] = Counter()  # Attempts of this sitting, by planned trial.
        self._durations_s: list[float] = []
        self._started_s = time.monotonic()

    def execute(self) -> Outcome:
        """Run what has to run and judge the whole; every trial that ended is in the tables."""
        stopped = None
        with self._interruption.handling(), self._progress, WorkFolder() as work:
            try:
                self._write_tables()
                self._prepare(work)
                while (trial := self._next()) is not None:
                    self._try(trial, work)
                    self._rest()
            except (Interrupted, DiskFull, _Stopped) as reason:
                stopped = str(reason)
        return judge_run(
            self._folder.path,
            self._journal.attempts(),
            accept_void=self._limits["void"] == "accept",
            stopped=stopped,
            wide=[] if stopped else too_wide(self._resolved, self._journal),
        )

    def _prepare(self, work: WorkFolder) -> None:
        if not self._application.is_prepared(self._resolved["topology"]["nodes"]):
            self._progress.say(f"preparing the data of {self._application.name}; later runs will find them")
        logs = self._folder.path / "logs" / "prepare"
        with self._interruption.allowed():
            prepare_application(self._resolved, self._application, work=work, logs=logs)

    def _next(self) -> Trial | None:
        """Return the next trial of this sitting; plan another block when the intervals ask for one.

        Raises: _Stopped: there is one, but the experiment's limit of time is reached.
        """
        waiting = self._open_trials()
        if not waiting and too_wide(self._resolved, self._journal):
            blocks = 1 + max(row.block for row in self._journal.planned())
            self._journal.plan(
                planned_row(trial, self._resolved) for trial in next_block(self._resolved, blocks)
            )
            waiting = self._open_trials()
        if not waiting:
            return None
        limit_s = self._limits["duration_s"]
        if limit_s is not None and time.monotonic() - self._started_s > limit_s:
            raise _Stopped(f"limits: duration {limit_s:g} s reached")
        total = len(self._journal.planned())
        self._progress.begin(waiting[0], total - len(waiting), total, self._left_s(len(waiting)))
        return waiting[0]

    def _open_trials(self) -> list[Trial]:
        """Return the planned trials that this sitting still has to try, in order."""
        attempts = self._journal.attempts()
        return [
            Trial(row.trial, row.block, row.position, row.condition, row.seed)
            for row in self._journal.planned()
            if self._is_open(row.trial, attempts[row.trial])
        ]

    def _is_open(self, planned_name: str, attempts: list[TrialRow]) -> bool:
        if any(row.satisfies for row in attempts):
            return False
        tries = self._tries[planned_name]
        was_void = bool(attempts) and attempts[-1].fidelity == "void"
        return tries == 0 or (was_void and tries < ATTEMPTS_MAX)

    def _try(self, trial: Trial, work: WorkFolder) -> None:
        """Run one attempt and keep it.

        Raises:
            Interrupted: a signal came; the attempt is recorded as failed.
            DiskFull: the results cannot grow; the attempt is recorded as failed where there was room for
            that.
            _Stopped: it failed, and the experiment says to stop then.
        """
        self._tries[trial.id] += 1
        number = 1 + len(self._journal.attempts()[trial.id])
        attempt = Attempt(self._resolved, self._application, self._folder, self._journal, trial, number)
        row, metrics = attempt.run(work, self._interruption)
        self._progress.end(row, metrics)
        if row.duration_s is not None:
            self._durations_s.append(row.duration_s)
        self._write_tables()
        attempt.raise_if_it_stops_the_run()
        if row.status == "failed" and self._limits["failed"] == "stop":
            raise _Stopped("limits: stopped after a failed trial, as `failed: stop` says")

    def _write_tables(self) -> None:
        try:
            write_tables(self._folder.path, self._journal)
        except (OSError, duckdb.Error) as error:
            if is_disk_full(error):
                raise DiskFull(self._folder.path, "the tables", error) from error
            raise

    def _rest(self) -> None:
        with self._interruption.allowed():
            time.sleep(self._resolved["trials"]["rest_s"])

    def _left_s(self, waiting: int) -> float | None:
        """Return the time that the waiting trials will take: as long as those of this sitting took."""
        if self._durations_s:
            rest_s: float = self._resolved["trials"]["rest_s"]
            return (sum(self._durations_s) / len(self._durations_s) + rest_s) * waiting
        expected_s = trial_s(self._resolved)
        return None if expected_s is None else expected_s * waiting
