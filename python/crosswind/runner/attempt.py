"""One attempt of a trial from its first journal entry to its last; its row records what happened."""

import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime
from sqlite3 import OperationalError

from crosswind.app import Application
from crosswind.errors import CrosswindError
from crosswind.plan import Trial
from crosswind.results import (
    AlreadyEnded,
    Journal,
    Measurement,
    Metric,
    ResultsFolder,
    TrialRow,
    store_monitors,
    store_samples,
)
from crosswind.results.disturbances import disturbances
from crosswind.results.durable import replacing
from crosswind.results.fidelity import Verdict, judge
from crosswind.results.journal import StepName
from crosswind.results.ranged import of_whole_trial
from crosswind.results.rows import Status, attempt_name
from crosswind.runner.budgets import Budgets
from crosswind.runner.disk import DiskFull, is_disk_full
from crosswind.runner.faults import has_faults
from crosswind.runner.interruption import Interrupted, Interruption
from crosswind.runner.plausible import check_plausible
from crosswind.runner.reason import reason_of
from crosswind.runner.steering import Steering
from crosswind.runner.trial import MeasuredTrial, run_trial
from crosswind.spec import Resolved, condition_of
from crosswind.stream import Event, Stream, TrialReached
from crosswind.testbed import FabricFiles, RunningTestbed, TestbedError, WorkFolder


def planned_row(trial: Trial, resolved: Resolved) -> TrialRow:
    """Return the row of a trial that has not been tried yet."""
    return TrialRow(
        trial=trial.id,
        block=trial.block,
        position=trial.position,
        condition=trial.condition,
        application=resolved.application.name,
        status="pending",
        reason=None,
        fidelity=None,
        fidelity_reason=None,
        started=None,
        duration_s=None,
        attempt=0,
        seed=trial.seed,
    )


class Attempt:
    """The `number`-th attempt (from 1) of a planned trial."""

    def __init__(
        self,
        resolved: Resolved,
        application: Application,
        testbed: RunningTestbed,
        folder: ResultsFolder,
        journal: Journal,
        trial: Trial,
        number: int,
        budgets: Budgets,
        stream: Stream[Event],
        steering: Steering,
    ) -> None:
        self._resolved = resolved
        self._application = application
        self._testbed = testbed
        self._folder = folder
        self._journal = journal
        self._trial = trial
        self._number = number
        self._budgets = budgets
        self._stream = stream
        self._steering = steering
        self._name = attempt_name(trial.id, number)
        self._stops_the_run: CrosswindError | None = None

    def run(self, work: WorkFolder, interruption: Interruption) -> tuple[TrialRow, list[Metric]]:
        """Run the attempt and write its last step; return its row and, unless it failed, its metrics.

        Any error in it, such as unexpected output of an application, makes the attempt fail and does not end
        the run.

        Raises:
            DiskFull: the journal has no room for the entry that it failed.
            AlreadyEnded: another process wrote the end of this attempt; its files stay.
        """
        self._began = datetime.now(UTC)
        self._began_s = time.monotonic()
        self._steering.begin(self._name)
        try:
            self._step("started")
            with interruption.allowed():
                measured = run_trial(
                    self._resolved,
                    self._trial,
                    self._application,
                    self._testbed,
                    work=work,
                    logs=self._folder.path / "logs" / self._name,
                    files=self._files(),
                    named=self._folder.kept_files(),
                    budgets=self._budgets,
                    on_step=self._step,
                    stream=self._stream,
                    steering=self._steering,
                )
            self._step("measured")
            metrics = self._store(measured)
            is_broken = has_faults(condition_of(self._resolved, self._trial.condition))
            may_fail = is_broken or measured.outcome.may_fail
            check_plausible(metrics, self._resolved.application.figures, may_fail=may_fail)
            row = self._row("done", self._judge(measured.measurement))
            self._write_moves()
            self._journal.stored(self._trial.id, row, metrics)
            return row, metrics
        except AlreadyEnded:
            raise
        except Exception as error:  # An application's reader, or a plugin's, can raise anything.
            return self._fail(error), []

    def raise_if_it_stops_the_run(self) -> None:
        """Raise the error that ended the attempt, if it ends the run too: a signal, or a full disk."""
        if self._stops_the_run is not None:
            raise self._stops_the_run

    @property
    def is_explored(self) -> bool:
        """Whether a hand moved its network: however it ended, it says nothing about its condition."""
        return bool(self._steering.moves)

    def _judge(self, measurement: Measurement) -> Verdict:
        """Return the verdict on a measurement; void where a hand moved the network."""
        verdict = judge(measurement)
        if not (explored := self._steering.explored(measurement.window.started_ns)):
            return verdict
        return Verdict("void", "; ".join(filter(None, (explored, verdict.reason))))

    def _write_moves(self) -> None:
        """Write what a hand moved: at the end, by the thread of the run, and of a drag its last value."""
        for move in self._steering.moves:
            self._journal.write(
                self._trial.id, self._number, "moved", {"at_ns": move.at_ns, "words": move.words}
            )

    def _store(self, measured: MeasuredTrial) -> list[Metric]:
        """Write the samples and monitors of the attempt; return its metrics."""
        outcome, disturbed = measured.outcome, disturbances(measured.measurement)
        metrics = [of_whole_trial(metric, disturbed) for metric in outcome.metrics]
        if outcome.operations is not None:
            metrics += store_samples(
                outcome.operations,
                self._name,
                measured.node,
                self._folder.path / "samples",
                outcome.facts.parameters,
                disturbed,
                measured.clock,
            )
        if measured.measurement.carried is not None:
            # Without the emulator it is unknown when the machine disturbed the network.
            metrics = [metric._replace(low=None, high=None) for metric in metrics]
        if outcome.files:
            (self._folder.path / "outputs").mkdir(exist_ok=True)
        for name, written in outcome.files.items():
            with replacing(self._folder.path / "outputs" / f"{self._name}.{name}") as kept:
                shutil.copyfile(written, kept)
        facts = outcome.facts.on_clock(measured.clock)
        of_network = store_monitors(
            measured.measurement, facts.as_json(), self._name, self._folder.path / "monitors"
        )
        if self._resolved.overlay is not None:
            # What connections send again is inside the overlay's datagrams, where nobody reads it.
            of_network = [metric for metric in of_network if metric.metric != "retransmissions"]
        return [*metrics, *of_network]

    def _fail(self, error: Exception) -> TrialRow:
        """Record the attempt as failed, or as interrupted by a signal.

        Its files are removed first: they may have filled the disk.
        """
        self._remove_files()
        status: Status = "failed"
        if isinstance(error, Interrupted):
            self._stops_the_run, status = error, "interrupted"
        elif is_disk_full(error) and not self._is_elsewhere(error):
            self._stops_the_run = DiskFull(self._folder.path, f"the results of {self._name}", error)
        explored = self._steering.explored()
        reason = f"{explored}; then {reason_of(error)}" if explored else reason_of(error)
        row = self._row(status, reason=reason)
        try:
            self._write_moves()
            self._journal.failed(self._trial.id, row)
        except OperationalError as unwritten:
            full = DiskFull(self._folder.path, "the journal", unwritten)
            raise self._stops_the_run or full from error
        return row

    def _is_elsewhere(self, error: Exception) -> bool:
        """Whether an error may be about the disk of another machine: the next trial may find room there."""
        return self._resolved.testbed is not None and isinstance(error, TestbedError)

    def _files(self) -> FabricFiles:
        """Return the files that this attempt has to write, and make their folders."""
        trials, files = self._resolved.trials, FabricFiles()
        if trials.record:
            path = self._folder.path / "recordings" / f"{self._name}.cwr"
            path.parent.mkdir(exist_ok=True)
            files = replace(files, record=path)
        if (capture := trials.capture) is not None:
            path = self._folder.path / "captures" / f"{self._name}.pcapng"
            path.parent.mkdir(exist_ok=True)
            files = replace(
                files, capture=path, snap_bytes=capture.snap_bytes, limit_bytes=capture.limit_bytes
            )
        return files

    def _step(self, step: StepName) -> None:
        self._journal.write(self._trial.id, self._number, step)
        if step in ("up", "prepared", "measured"):
            self._stream.publish(TrialReached(trial=self._name, step=step))

    def _row(self, status: Status, verdict: Verdict | None = None, reason: str | None = None) -> TrialRow:
        return replace(
            planned_row(self._trial, self._resolved),
            trial=self._name,
            status=status,
            reason=reason,
            fidelity=verdict.fidelity if verdict else None,
            fidelity_reason=verdict.reason or None if verdict else None,
            started=self._began.isoformat(timespec="microseconds"),
            duration_s=round(time.monotonic() - self._began_s, 3),
            attempt=self._number,
        )

    def _remove_files(self) -> None:
        for part in ("samples", "monitors", "outputs", "recordings", "captures"):
            for file in (self._folder.path / part).glob(f"*{self._name}.*"):
                file.unlink()
