"""One sitting of a run, from `run` or `resume` to its end: the next trial, its attempts, its end."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import duckdb

from crosswind.app import Application
from crosswind.errors import CrosswindError
from crosswind.plan import Trial, chosen_blocks, next_block, next_conditions
from crosswind.plan.expected import trial_s
from crosswind.results import Journal, ResultsFolder, TrialRow, write_tables
from crosswind.results.folder import Side, fingerprint_file
from crosswind.results.rows import attempt_name
from crosswind.runner.attempt import Attempt, planned_row
from crosswind.runner.backend_check import check_by_traffic
from crosswind.runner.budgets import Budgets
from crosswind.runner.disk import DiskFull, is_disk_full
from crosswind.runner.figures import figures_of
from crosswind.runner.fingerprints import attach_fingerprint
from crosswind.runner.growth import can_settle, forecast, performance, unsettled
from crosswind.runner.interruption import Interrupted, Interruption
from crosswind.runner.outcome import RunOutcome, judge_run
from crosswind.runner.reason import exception_text, same_reason
from crosswind.runner.so_far import Known
from crosswind.runner.steering import Steering
from crosswind.runner.trial import prepare_application
from crosswind.spec import Resolved, condition_of
from crosswind.spec.resolved import dilation_of
from crosswind.stream import Event, Note, RunBegun, Stream, TrialBegun, TrialEnded
from crosswind.testbed import RunningTestbed, TestbedError, WorkFolder

# A void trial shows that the machine was disturbed; after three in a row it is likely to stay so.
ATTEMPTS_MAX = 3
# Of the time of a run, for its reports between trials: one of 30 trials takes 1 s, one of 300 takes 13 s.
REPORTS_SHARE = 0.05

# Writes a report of what a results folder knows while this process writes the folder.
Report = Callable[[Path], object]


class _Stopped(CrosswindError):
    """The run ends here because of a rule, and not because of an error."""


class Sitting:
    """Runs the trials that still have to run, until the last or until something stops it."""

    def __init__(
        self,
        resolved: Resolved,
        application: Application,
        testbed: RunningTestbed,
        folder: ResultsFolder,
        journal: Journal,
        stream: Stream[Event],
        steering: Steering,
        *,
        report: Report,
        keep_going: bool,
        keep_files: bool = False,
    ) -> None:
        self._keep_files = keep_files
        self._keep_going = keep_going
        self._resolved = resolved
        self._application = application
        self._testbed = testbed
        self._folder = folder
        self._journal = journal
        self._stream = stream
        self._steering = steering
        self._report = report
        self._reports_s = 0.0
        self._known = Known(resolved, journal, folder.path)
        self._limits = resolved.trials.limits
        self._interruption = Interruption()
        # Attempts of this sitting, by planned trial. Those that a hand explored are none: they do not show
        # that the machine is disturbed, or that a condition fails.
        self._tries: Counter[str] = Counter()
        self._explored: set[str] = set()  # names of attempts
        self._budgets = Budgets.of(resolved, folder.path)
        self._durations_s: list[float] = []  # Of trials, with the rest before them.
        self._started_s = time.monotonic()

    def execute(self) -> RunOutcome:
        """Run the trials and return the outcome of the run; every trial that ended is in the tables."""
        stopped = None
        with self._interruption.handling(), WorkFolder(keep=self._keep_files) as work, self._testbed:
            try:
                self._publish_begin()
                self._write_tables()
                if (self._folder.path / "report.html").exists():
                    # It was written before the run was stopped.
                    self._report_so_far()
                self._prepare(work)
                self._check_backend(work)
                if len({row.block for row in self._journal.planned()}) == 1:
                    self._fingerprint_early()
                block = None  # of the trial before
                while (trial := self._next()) is not None:
                    if block not in (None, trial.block):
                        self._report_so_far()
                        self._fingerprint_early()
                    rested_s = self._rest(trial)
                    self._try(trial, rested_s, work)
                    block = trial.block
                if self._tries:
                    self._fingerprint("after")
            except (Interrupted, DiskFull, _Stopped) as reason:
                stopped = str(reason)
            if self._keep_files:
                self._note(
                    f"the files of the last trial stay in {work.path}, on this machine and on others that "
                    "carried it; `crosswind cleanup` removes them here"
                )
        return judge_run(
            self._folder.path,
            self._journal.attempts(),
            accept_void=self._limits.void == "accept",
            stopped=stopped,
            unsettled={} if stopped else unsettled(self._resolved, self._journal, self._folder.path),
        )

    def _publish_begin(self) -> None:
        resolved = self._resolved
        planned = len(self._journal.planned())
        self._stream.publish(
            RunBegun(
                name=resolved.name,
                summary=resolved.summary or "",
                folder=str(self._folder.path),
                application=resolved.application.name,
                conditions=tuple(condition.name for condition in resolved.conditions),
                baseline=resolved.conditions[0].name,
                trials=planned,
                ended=planned - len(self._open_trials()),
                dilations=resolved.dilations,
            )
        )

    def _report_so_far(self) -> None:
        """Write a report of the blocks that are complete, unless reports took too much of the run until now.

        An error in it does not end the run: the trials are stored, and its end has a report as well.
        """
        began_s = time.monotonic()
        if self._reports_s > REPORTS_SHARE * (began_s - self._started_s):
            return
        try:
            self._report(self._folder.path)
        except Exception as error:  # The results of an application can have a form that no report has met.
            self._note(f"report.html not written: {exception_text(error)}")
        self._reports_s += time.monotonic() - began_s

    def _note(self, text: str) -> None:
        self._stream.publish(Note(text=text))

    def _prepare(self, work: WorkFolder) -> None:
        if not self._application.is_prepared(self._resolved.topology.nodes):
            self._note(f"preparing the data of {self._application.name}; later runs will find them")
        logs = self._folder.path / "logs" / "prepare"
        try:
            with self._interruption.allowed():
                prepare_application(
                    self._resolved, self._application, work=work, logs=logs, named=self._folder.kept_files()
                )
        except (CrosswindError, OSError):
            raise
        except Exception as unread:  # As in a trial, an application's programs can print anything.
            raise TestbedError(
                f"preparing the data of {self._application.name}: {exception_text(unread)}; "
                f"{logs} has the output"
            ) from unread

    def _check_backend(self, work: WorkFolder) -> None:
        """Check a backend by traffic, once in a run, and store what was found."""
        before = self._folder.provenance().before
        if self._resolved.backend is None or before is None or before.backend is not None:
            return
        self._note(f"backend {self._resolved.backend.name}: probe traffic under every condition")
        with self._interruption.allowed():
            facts = check_by_traffic(
                self._resolved, self._testbed, work, self._folder.path / "logs" / "backend"
            )
        self._folder.write_provenance(before=before.with_changes(backend=facts))

    def _fingerprint_early(self) -> None:
        """Measure the network, once: the first block comes before it, because its answers are waited for."""
        if not fingerprint_file(self._folder.path, "before").exists():
            self._fingerprint("before")

    def _fingerprint(self, side: Side) -> None:
        with self._interruption.allowed():
            attach_fingerprint(self._resolved, self._folder, side, self._stream)

    def _next(self) -> Trial | None:
        """Return the next trial of this sitting; plan another block when the intervals need one.

        Raises: _Stopped: there is one, but the experiment's time limit is reached.
        """
        waiting = self._open_trials()
        looks = {} if waiting else unsettled(self._resolved, self._journal, self._folder.path)
        if can_settle(looks):
            blocks = 1 + max(row.block for row in self._journal.planned())
            block = next_block(self._resolved, blocks)
            if block:
                self._note(f"another block: {forecast(looks)}")
            self._journal.plan(planned_row(trial, self._resolved) for trial in block)
            waiting = self._open_trials()
        if not waiting and self._resolved.design is not None:
            self._journal.plan(planned_row(trial, self._resolved) for trial in self._chosen())
            waiting = self._open_trials()
        if not waiting:
            return None
        limit_s = self._limits.duration_s
        if limit_s is not None and time.monotonic() - self._started_s > limit_s:
            raise _Stopped(f"limits: duration {limit_s:g} s reached")
        return waiting[0]

    def _chosen(self) -> list[Trial]:
        """Return the trials of the points that an adaptive design chooses next."""
        planned = self._journal.planned()
        names = next_conditions(
            self._resolved, {row.condition for row in planned}, performance(self._resolved, self._journal)
        )
        if names:
            self._note(f"least certain: {', '.join(names)}")
        return chosen_blocks(self._resolved, names, 1 + max(row.block for row in planned), len(planned))

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
        attempts = [row for row in attempts if row.trial not in self._explored]
        tries = self._tries[planned_name]
        was_void = bool(attempts) and attempts[-1].fidelity == "void"
        return tries == 0 or (was_void and tries < ATTEMPTS_MAX)

    def _try(self, trial: Trial, rested_s: float, work: WorkFolder) -> None:
        """Run one attempt and store it.

        Raises:
            Interrupted: a signal arrived; the attempt is recorded as interrupted.
            DiskFull: the results cannot grow; the attempt is recorded as failed if there was room.
            _Stopped: it failed, and the experiment stops then; or all trials of the first block failed.
        """
        number = 1 + len(self._journal.attempts()[trial.id])
        self._publish_trial(trial, number)
        attempt = Attempt(
            self._resolved,
            self._application,
            self._testbed,
            self._folder,
            self._journal,
            trial,
            number,
            self._budgets,
            self._stream,
            self._steering,
        )
        row, metrics = attempt.run(work, self._interruption)
        assert row.status != "pending"
        if attempt.is_explored:
            self._explored.add(row.trial)
        else:
            self._tries[trial.id] += 1
        self._stream.publish(
            TrialEnded(
                trial=row.trial,
                attempt=number,
                condition=row.condition,
                block=row.block,
                status=row.status,
                reason=row.reason,
                fidelity=row.fidelity,
                fidelity_reason=row.fidelity_reason,
                explored=attempt.is_explored,
                duration_s=row.duration_s,
                figures=figures_of(self._resolved.application.figures, metrics),
            )
        )
        if row.duration_s is not None:
            self._durations_s.append(rested_s + row.duration_s)
        self._write_tables()
        self._stream.publish(self._known.so_far(self._open_trials()))
        attempt.raise_if_it_stops_the_run()
        if attempt.is_explored:
            return
        if row.status == "failed" and self._limits.failed == "stop":
            raise _Stopped("limits: stopped after a failed trial, as `failed: stop` says")
        if row.status == "failed" and not self._keep_going:
            self._stop_if_nothing_works(trial)

    def _publish_trial(self, trial: Trial, number: int) -> None:
        planned, waiting = len(self._journal.planned()), len(self._open_trials())
        self._stream.publish(
            TrialBegun(
                trial=attempt_name(trial.id, number),
                attempt=number,
                condition=trial.condition,
                block=trial.block,
                ended=planned - waiting,
                trials=planned,
                left_s=self._left_s(waiting),
            )
        )

    def _stop_if_nothing_works(self, trial: Trial) -> None:
        """End the sitting when all trials of the first block failed for the same reason.

        The reason is then in the experiment or the machine, and the other trials would fail as well. A single
        failed trial does not show this, so where a block has one trial, the first two have to fail. In a
        continued run, only the attempts of this sitting count.

        Args:
            trial: the one that has just failed.
        """
        planned = self._journal.planned()
        first = [row for row in planned if row.block == 0]
        first = first if len(first) > 1 else planned[:2]
        attempts = self._journal.attempts()
        last = [attempts[row.trial][-1] for row in first if self._tries[row.trial]]
        if trial.id not in {row.trial for row in first} or len(last) < len(first) or len(first) < 2:
            return
        grows = self._resolved.trials.repeat.until is not None or self._resolved.design is not None
        left = len(self._open_trials())
        if not left and not grows:
            return
        if all(row.status == "failed" for row in last) and same_reason([row.reason for row in last]):
            which = "trials of the first block" if first[-1].block == 0 else "first trials"
            raise _Stopped(
                f"stopped: all {len(first)} {which} failed for the same reason, so the others were not run; "
                f"`crosswind resume {self._folder.path} --keep-going` runs them nevertheless"
            )

    def _write_tables(self) -> None:
        try:
            write_tables(self._folder.path, self._journal, self._resolved)
        except (OSError, duckdb.Error) as error:
            if is_disk_full(error):
                raise DiskFull(self._folder.path, "the tables", error) from error
            raise

    def _rest(self, trial: Trial) -> float:
        """Wait until a trial may begin; return how long, in seconds of real time."""
        rest_s = self._resolved.trials.rest_s
        if rest_s is None:
            rest_s = self._budgets.rest_s(trial.condition)
            if rest_s:
                self._note(f"rest of {rest_s:.1f} s, until the budgets are refilled")
        elif not (self._tries or self._explored):
            rest_s = 0.0  # There is no rest before the first trial.
        real_s = rest_s * (dilation_of(self._resolved, condition_of(self._resolved, trial.condition)) or 1)
        with self._interruption.allowed():
            time.sleep(real_s)
        return real_s

    def _left_s(self, waiting: int) -> float | None:
        """Return the time that the waiting trials will take, estimated from those of this sitting."""
        if self._durations_s:
            return sum(self._durations_s) / len(self._durations_s) * waiting
        expected_s = trial_s(self._resolved)
        return None if expected_s is None else expected_s * waiting
