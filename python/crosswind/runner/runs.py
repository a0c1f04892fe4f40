"""A run: started, or continued where it was interrupted."""

import contextlib
import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from crosswind.app import Application
from crosswind.app.find import application_of
from crosswind.errors import CrosswindError, Exit
from crosswind.fingerprint.measure import end_facts
from crosswind.fingerprint.measure.machines import ANYTHING, Bounds, Busy, facts_here, refuse_busy
from crosswind.plan import as_selected, planned, planned_fingerprint
from crosswind.results import ResultsFolder
from crosswind.results.documents import WITHOUT_IT, blaming
from crosswind.runner.attempt import planned_row
from crosswind.runner.machine import check_same_machine, machine_now
from crosswind.runner.machines import busy, machines_now
from crosswind.runner.outcome import RunOutcome
from crosswind.runner.preflight import Checked, preflight
from crosswind.runner.sitting import Report, Sitting
from crosswind.runner.steering import Steering
from crosswind.runner.testbed import on_machines, testbed_of
from crosswind.spec import Resolved, load_experiment, resolve
from crosswind.spec.read_file import read_file
from crosswind.stream import Event, Note, RunEnded, Stream


class ExperimentChanged(CrosswindError):
    """A run cannot be continued: its experiment has another meaning now."""

    exit = Exit.USAGE


def run(
    resolved: Resolved,
    source_text: str,
    source_folder: Path,
    results: Path,
    stream: Stream[Event],
    bounds: Bounds = ANYTHING,
    *,
    report: Report,
    keep_going: bool = False,
    keep_files: bool = False,
    steering: Steering | None = None,
) -> RunOutcome:
    """Run a resolved experiment from its first trial to its last.

    Args:
        resolved: from `crosswind.spec.resolve`.
        source_text: the experiment file as written, stored with the results.
        source_folder: the folder of that file; its git commit is recorded.
        results: the folder of all results.
        stream: gets what happens; the agent's steps as well, if somebody reads them when a trial begins.
        report: writes a report of what is known so far; called between two trials.
        bounds: what the machine may do besides when this begins.
        keep_going: go on although all trials of the first block failed for the same reason.
        keep_files: let the files of the last trial stay, here and on other machines.
        steering: what may change the network of the trial that runs; nothing does when absent.
    Raises: CrosswindError: the machine cannot run it, or is too busy; nothing was started, and no folder
        made.
    """
    # What is stored has no machines of a provider, so that `resume` asks for new ones.
    with on_machines(resolved) as placed:
        since = end_facts.look()
        checked = preflight(placed)
        application = application_of(placed)
        now = machine_now(placed, application, checked, source_folder)
        here = facts_here(since)
        refuse_busy([Busy.of(here), *map(busy, checked.machines)], bounds)
        now = now.with_changes(
            remarks=list(checked.notes),
            state=here.state,
            bounds=asdict(bounds),
            fingerprint=planned_fingerprint(placed),
        )
        for note in checked.notes:
            stream.publish(Note(text=f"note: {note}"))
        folder = ResultsFolder.create(results, resolved, source_text, _named_files(resolved, source_folder))
        with folder.writing():
            folder.write_provenance(before=now)
            with folder.journal() as journal:
                journal.plan(planned_row(trial, placed) for trial in planned(placed))
                sitting = Sitting(
                    placed,
                    application,
                    testbed_of(placed, checked.programs),
                    folder,
                    journal,
                    stream,
                    steering or Steering(stream),
                    report=report,
                    keep_going=keep_going,
                    keep_files=keep_files,
                )
                outcome = sitting.execute()
            _write_after(folder, placed, application, checked, source_folder, since)
    _publish_end(outcome, stream)
    return outcome


def resume(
    path: Path,
    stream: Stream[Event],
    bounds: Bounds = ANYTHING,
    *,
    report: Report,
    keep_going: bool = False,
    steering: Steering | None = None,
) -> RunOutcome:
    """Continue a run: trials that are stored and not void stay, all others are run.

    Args:
        stream, report: as in `run`.
        bounds: what the machine may do besides when this begins; those not given are as when the run began.
        keep_going, steering: as in `run`.
    Raises:
        FolderInUse: another process is running this run.
        ExperimentChanged: experiment.yaml resolves to something else than when the run started.
        MachineChanged: the machine's fingerprint differs.
        TooBusy: the machine is too busy; nothing was started.
    """
    since = end_facts.look()
    folder = ResultsFolder.open(path)
    with folder.writing():
        outcome = _continued(folder, stream, steering or Steering(stream), report, bounds, since, keep_going)
    _publish_end(outcome, stream)
    return outcome


def _continued(
    folder: ResultsFolder,
    stream: Stream[Event],
    steering: Steering,
    report: Report,
    bounds: Bounds,
    since: end_facts.InterfaceBytes,
    keep_going: bool,
) -> RunOutcome:
    resolved = folder.resolved()
    source = load_experiment(folder.path / "experiment.yaml", folder.kept_files())
    again = as_selected(resolve(source), resolved.selection)
    if resolved.testbed is not None and resolved.testbed.named is not None:
        # The command line named it, so the experiment has another one, or none.
        again = again.model_copy(update={"testbed": resolved.testbed})
    was, found = (json.loads(json.dumps(side.as_json())) for side in (resolved, again))
    if was != found:
        keys = dict.fromkeys((*was, *found))
        differing = ", ".join(key for key in keys if was.get(key) != found.get(key))
        raise ExperimentChanged(
            f"{folder.path}/experiment.yaml: differs in meaning from resolved.json, with which the run "
            f"started ({differing}); undo the change of either file, or start a new run"
        )
    with on_machines(resolved) as placed:
        checked = preflight(placed)
        application = application_of(placed)
        now = machine_now(placed, application, checked, folder.path)
        before = folder.provenance().before
        provenance = folder.path / "provenance.json"
        with blaming(provenance, WITHOUT_IT):
            declared = ANYTHING if before is None else Bounds(**before.bounds)
        refuse_busy([Busy.of(facts_here(since)), *map(busy, checked.machines)], declared.replaced_by(bounds))
        if before is None:
            folder.write_provenance(before=now)
        else:
            with blaming(provenance, WITHOUT_IT):
                check_same_machine(before, now)
        folder.remove_partial_files()
        with folder.journal() as journal:
            if not journal.planned():
                journal.plan(planned_row(trial, placed) for trial in planned(placed))
            journal.record_interruptions()
            sitting = Sitting(
                placed,
                application,
                testbed_of(placed, checked.programs),
                folder,
                journal,
                stream,
                steering,
                report=report,
                keep_going=keep_going,
            )
            outcome = sitting.execute()
        _write_after(folder, placed, application, checked, folder.path, since)
        return outcome


def _publish_end(outcome: RunOutcome, stream: Stream[Event]) -> None:
    stream.publish(RunEnded(exit=outcome.exit, remarks=tuple(outcome.remarks)))


def _named_files(resolved: Resolved, folder: Path) -> dict[str, bytes]:
    """Return the files that conditions and the application name, by SHA-256.

    Raises: ExperimentChanged: a file has changed since the experiment was read.
    """
    files = {}
    for named in resolved.files():
        content = read_file(folder / named.file)
        if hashlib.sha256(content).hexdigest() != named.sha256:
            raise ExperimentChanged(f"{folder / named.file}: changed while the run started; start again")
        files[named.sha256] = content
    return files


def _write_after(
    folder: ResultsFolder,
    resolved: Resolved,
    application: Application,
    checked: Checked,
    source: Path,
    since: end_facts.InterfaceBytes,
) -> None:
    """Record the machine after the last trial, unless the disk is full."""
    with contextlib.suppress(OSError):
        state = facts_here(since).state
        folder.write_provenance(
            after=machine_now(resolved, application, checked, source).with_changes(
                state=state, machines=machines_now(resolved)
            )
        )
