"""One trial: a fresh fabric, the application, warm-up and measurement; then everything is taken down."""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from crosswind.app import Application, Load, LoadOutcome, Stage
from crosswind.doctor import auto_domains_here
from crosswind.errors import CrosswindError
from crosswind.plan import Trial
from crosswind.results import Measurement
from crosswind.results.fidelity import stalled
from crosswind.results.journal import StepName
from crosswind.results.measurement import ClockLine
from crosswind.runner.budgets import Budgets
from crosswind.runner.faults import NodeFaults, check_faults, has_faults, with_faults
from crosswind.runner.interference import real_noise
from crosswind.runner.limits import check_limits, within_limits
from crosswind.runner.operations import published
from crosswind.runner.reason import exception_text
from crosswind.runner.steering import Steering
from crosswind.spec import (
    FabricCondition,
    Resolved,
    condition_of,
    fabric_of,
    limits_of,
    real_interference,
    with_disks,
)
from crosswind.spec.network import STAR_SWITCH, star_links
from crosswind.stream import Event, OperationsStep, Step, Stream
from crosswind.testbed import Ended, FabricFiles, RunningTestbed, TestbedError, ThisMachine, WorkFolder
from crosswind.testbed.replies import Down

EMPTY_CONDITION = FabricCondition(name="none", places={}, interference=[], timeline=[])
# After a failed load: how long the report of another node's ended process may take.
LATE_REPORT_S = 0.5


@dataclass(frozen=True)
class MeasuredTrial:
    """The result of a trial.

    Attributes:
        outcome: its `operations` is a file in the work folder.
        node: that measured.
        clock: of that node's machine, against the clock of the measurement.
    """

    measurement: Measurement
    outcome: LoadOutcome
    node: str
    clock: ClockLine


def run_trial(
    resolved: Resolved,
    trial: Trial,
    application: Application,
    testbed: RunningTestbed,
    *,
    work: WorkFolder,
    logs: Path,
    files: FabricFiles,
    named: Mapping[str, Path],
    budgets: Budgets,
    on_step: Callable[[StepName], None],
    stream: Stream[Event],
    steering: Steering,
) -> MeasuredTrial:
    """Run one attempt and return its result; everything else is undone, also after an error.

    The application starts under the empty condition. The trial's condition is applied before the warm-up: a
    start-up is not measured, and readiness must not depend on the network.

    Args:
        testbed: where its fabric comes up.
        logs: folder for the outputs of this attempt's processes.
        files: the recording and the capture to make of it.
        named: copies of the files that the experiment names, by their names in it.
        budgets: the content of the condition's credit buckets; what the trial leaves is recorded there.
        on_step: called with `up` and `prepared` when these are reached.
        stream: gets the steps of the agent and of the load, if somebody reads them now: those of the agent
            cost its packet thread some time.
        steering: may change the network from the trial's condition on, until it is measured.
    Raises: TestbedError: something did not work; the text is the reason of the failed trial.
    """
    spec = fabric_of(resolved, trial.condition, trial.seed, auto_domains_here(resolved))
    condition, spec = spec.condition, spec.with_changes(condition=EMPTY_CONDITION)
    noise_entries = real_interference(resolved, trial.condition)
    limits = with_disks(limits_of(resolved), resolved)
    declared = condition_of(resolved, trial.condition)
    with (
        NodeFaults(declared, application, limits, stream) as faults,
        testbed.fabric(spec, work, logs, files, limits) as fabric,
        budgets.followed(trial.condition, fabric, steering),
        within_limits(fabric),
    ):
        on_step("up")
        if stream.wants(Step):
            fabric.watch(stream.publish)
        is_watched = stream.wants(OperationsStep)
        folder = fabric.fresh(work, "trial")
        stage = Stage(fabric, folder, trial.seed, named, is_watched, has_faults(declared))
        application.start(stage)
        on_step("prepared")
        applied_ns = fabric.set(budgets.applied(condition))
        with (
            steering.opened(fabric, trial.condition, applied_ns),
            real_noise(fabric, noise_entries, trial.seed, stage.folder) as noise,
        ):
            load = application.load(stage)
            began_s = fabric.now_s()
            with published(load, application.name, stream):
                try:
                    load.await_measured_phase()
                    faults.begin(stage, fabric.measure())
                    await_end(load, began_s, application, stage)
                except TestbedError as failure:
                    check_faults(faults.done, then=failure)
                    raise after_stalls(failure, fabric.read) from failure
                measurement = fabric.read()
            clock = fabric.clock_of(load.process.node)
        faults.end()
        measurement = with_faults(measurement, declared, faults.done)
        check_faults(measurement.faults)
        check_limits(measurement)
        try:
            outcome = load.outcome()
        except TestbedError as failure:
            _fail(failure, application, stage)
        except CrosswindError:
            raise
        except Exception as unread:
            # The application did not expect this output of its tool, such as JSON that is cut off, or that is
            # nested deeper than Python follows. The trial fails, and the run goes on.
            why = f"{load.process}: its result cannot be read ({exception_text(unread)})"
            _fail(TestbedError(f"{why}; its logs have what it printed"), application, stage)
        application.stop(stage)
    written = fabric.written
    _check_files(written)
    completed = {
        "interference": [*measurement.interference, *noise],
        "recording": written.recording,
        "capture": written.capture,
    }
    return MeasuredTrial(measurement.model_copy(update=completed), outcome, load.process.node, clock)


def _check_files(written: Down) -> None:
    """Check the recording and the capture of a trial.

    Raises: TestbedError: a recording has gaps, or the system reported an error.
    """
    recording, capture = written.recording, written.capture
    if recording is not None and recording.lost_records:
        why = recording.error or "the disk was slower than the network"
        raise TestbedError(
            f"recording: {recording.lost_records} records were lost ({why}); it cannot be replayed; "
            "use a faster disk, or leave `record` out"
        )
    if capture is not None and capture.error is not None:
        raise TestbedError(f"capture: {capture.error}; free space, or set a smaller limit")


def prepare_application(
    resolved: Resolved,
    application: Application,
    *,
    work: WorkFolder,
    logs: Path,
    named: Mapping[str, Path],
) -> None:
    """Make the data that every trial starts from, unless they exist already."""
    if application.is_prepared(resolved.topology.nodes):
        return
    spec = fabric_of(resolved, resolved.conditions[0].name, resolved.trials.seed)
    # At full speed: making the data is not part of the experiment.
    spec = spec.with_changes(
        condition=EMPTY_CONDITION,
        switches=[STAR_SWITCH],
        links=[link.resolved(1.0) for link in star_links(spec.hosts)],
        routes="shortest",
        # These links have no delay, so the network cannot be divided into domains.
        domains=None,
        dilation=None,
    )
    with ThisMachine().fabric(spec, work, logs) as fabric:
        application.prepare(Stage(fabric, fabric.fresh(work, "prepare"), resolved.trials.seed, named))


def after_stalls(failure: TestbedError, read: Callable[[], Measurement]) -> TestbedError:
    """Return a failure that names the emulator's stalls first where they are large enough to be its cause.

    Otherwise a condition, or the length of a trial, would be blamed for what the machine did. Before the
    measurement they count from when the network came up.
    """
    try:
        found = stalled(read())
    except TestbedError:
        return failure  # The agent has ended, and the failure says so.
    return TestbedError(f"{'; '.join(found)}; then {failure}") if found else failure


def await_end(load: Load, began_s: float, application: Application, stage: Stage) -> None:
    """Wait until the load ends with success.

    Args:
        began_s: when it was started, on the clock of the measurement.
    Raises: TestbedError: it failed, or did not end in time.
    """
    ended = load.process.wait(began_s + load.longest_s - stage.fabric.now_s())
    if ended == Ended(0, None):
        return
    if ended is None:
        # Not waited for: the servers may hang as well, and all of them end within five seconds.
        load.process.signal(signal.SIGTERM)
        _fail(TestbedError(f"{load.process}: still running after {load.longest_s:g} s"), application, stage)
    try:
        why = load.first_error() or load.process.last_words()
    except CrosswindError:
        raise
    except Exception:  # The output of a failed tool can have any form; its last lines are text.
        why = load.process.last_words()
    _fail(TestbedError(f"{load.process}: {ended}; {why}"), application, stage)


def _fail(failure: TestbedError, application: Application, stage: Stage) -> NoReturn:
    """Raise the failure of a load; where a server ended and is the cause, the error names it first.

    A tool that loses its server may end with 0, so that only its output shows the failure.
    """
    # Each node reports its own processes, so the end of the server, which came first, may be reported last.
    time.sleep(LATE_REPORT_S)
    try:
        application.stop(stage)
    except TestbedError as cause:
        raise TestbedError(f"{cause}; then {failure}") from failure
    raise failure
