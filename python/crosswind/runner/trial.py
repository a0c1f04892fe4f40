"""One trial: a fresh fabric, the application, warm-up, measurement, and nothing left behind."""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from crosswind.app import Application, Load, Outcome, Stage
from crosswind.doctor import auto_domains_here
from crosswind.errors import CrosswindError
from crosswind.plan import Trial
from crosswind.runner.budgets import Budgets
from crosswind.runner.interference import real_noise
from crosswind.runner.limits import check_limits, within_limits
from crosswind.runner.reason import exception_text
from crosswind.spec import FabricCondition, Resolved, fabric_of, limits_of, real_interference
from crosswind.spec.network import STAR_SWITCH, star_links
from crosswind.testbed import Agent, Ended, Files, RunningFabric, TestbedError, WorkFolder

EMPTY_CONDITION = FabricCondition(name="none", places={}, interference=[], timeline=[])
# After a failed load: how long an end that another node has seen may take to be told.
LATE_REPORT_S = 0.5


@dataclass(frozen=True)
class Measured:
    """What a trial brought home; `outcome.operations` is a file that is gone with the work folder."""

    measurement: dict[str, Any]
    outcome: Outcome
    node: str


def run_trial(
    resolved: Resolved,
    trial: Trial,
    application: Application,
    *,
    work: WorkFolder,
    logs: Path,
    files: Files,
    named: Mapping[str, Path],
    budgets: Budgets,
    on_step: Callable[[str], None],
) -> Measured:
    """Run one attempt and return what it measured; everything else is undone, whatever happened.

    The application starts under the empty condition and the trial's condition comes into force before the
    warm-up: a start-up is not what is measured, and readiness must not depend on how bad a network is.

    Args:
        logs: folder for the outputs of this attempt's processes.
        files: the recording and the capture that are to be made of it.
        named: copies of the files that the experiment names, by the names they have there.
        budgets: what the condition's credit buckets hold; told what the trial leaves.
        on_step: told `up` and `prepared` as they are reached.
    Raises: TestbedError: anything that did not work; the text is the reason of the failed trial.
    """
    spec = fabric_of(resolved, trial.condition, trial.seed, auto_domains_here(resolved))
    condition, spec = spec.condition, spec.with_changes(condition=EMPTY_CONDITION)
    noise_entries = real_interference(resolved, trial.condition)
    limits = limits_of(resolved)
    with (
        Agent() as agent,
        RunningFabric(agent, spec, logs, files, limits) as fabric,
        budgets.followed(trial.condition, fabric),
        within_limits(fabric),
    ):
        on_step("up")
        stage = Stage(fabric, work.fresh("trial", *fabric.application_account), trial.seed, named)
        application.start(stage)
        on_step("prepared")
        fabric.set(budgets.applied(condition))
        with real_noise(fabric, noise_entries, trial.seed, stage.folder) as noise:
            load = application.load(stage)
            began_s = time.monotonic()
            load.await_measured_phase()
            fabric.measure()
            await_end(load, began_s, application, stage)
            measurement = fabric.read()
        check_limits(measurement)
        measurement["interference"] = [*measurement["interference"], *noise]
        try:
            outcome = load.outcome()
        except TestbedError as failure:
            _fail(failure, application, stage)
        except CrosswindError:
            raise
        except Exception as unread:
            # The application did not expect this of its tool, such as JSON that is cut off, or that is
            # nested deeper than Python follows. It costs the trial, not the run.
            why = f"{load.process}: what it brought home cannot be read ({exception_text(unread)})"
            _fail(TestbedError(f"{why}; its logs have what it said"), application, stage)
        application.stop(stage)
    _check_kept(fabric.kept)
    measurement |= fabric.kept
    return Measured(measurement, outcome, load.process.node)


def _check_kept(kept: Mapping[str, Any]) -> None:
    """Check that the files which were asked for are what they claim to be.

    Raises: TestbedError: a recording has gaps, or the disk refused.
    """
    recording, capture = kept["recording"], kept["capture"]
    if recording is not None and recording["lost_records"]:
        why = recording["error"] or "the disk was slower than the network"
        raise TestbedError(
            f"recording: {recording['lost_records']} records were lost ({why}); it cannot be replayed; "
            "use a faster disk, or leave `record` out"
        )
    if capture is not None and capture["error"] is not None:
        raise TestbedError(f"capture: {capture['error']}; free space, or set a smaller limit")


def prepare_application(
    resolved: Resolved,
    application: Application,
    *,
    work: WorkFolder,
    logs: Path,
    named: Mapping[str, Path],
) -> None:
    """Make the data that every trial starts from, unless they are there already."""
    if application.is_prepared(resolved.topology.nodes):
        return
    spec = fabric_of(resolved, resolved.conditions[0].name, resolved.trials.seed)
    # At full speed: how the data came about is no part of the experiment.
    spec = spec.with_changes(
        condition=EMPTY_CONDITION,
        switches=[STAR_SWITCH],
        links=[link.resolved(1.0) for link in star_links(spec.hosts)],
        routes="shortest",
        # Its links are other ones, which no domains can be cut at.
        domains=None,
    )
    with Agent() as agent, RunningFabric(agent, spec, logs) as fabric:
        folder = work.fresh("prepare", *fabric.application_account)
        application.prepare(Stage(fabric, folder, resolved.trials.seed, named))


def await_end(load: Load, began_s: float, application: Application, stage: Stage) -> None:
    """Wait for the load to end well.

    Raises: TestbedError: it failed, or never ended.
    """
    ended = load.process.wait(began_s + load.longest_s - time.monotonic())
    if ended == Ended(0, None):
        return
    if ended is None:
        # Told, and not waited for: with it the servers may hang, and all together end within five seconds.
        load.process.signal(signal.SIGTERM)
        _fail(TestbedError(f"{load.process}: still running after {load.longest_s:g} s"), application, stage)
    try:
        why = load.first_error() or load.process.last_words()
    except CrosswindError:
        raise
    except Exception:  # What a failed tool wrote can be anything; its last lines are text in any case.
        why = load.process.last_words()
    _fail(TestbedError(f"{load.process}: {ended}; {why}"), application, stage)


def _fail(failure: TestbedError, application: Application, stage: Stage) -> NoReturn:
    """Raise the failure of a load; before it, the end of a server where that is the cause.

    Tools that lose their server may well end with 0 and be found out only by what they printed.
    """
    # Every node reports its own ends, so the server's, which came first, may be heard of last.
    time.sleep(LATE_REPORT_S)
    try:
        application.stop(stage)
    except TestbedError as cause:
        raise TestbedError(f"{cause}; then {failure}") from failure
    raise failure
