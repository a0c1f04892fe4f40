"""Run an experiment, and compare two runs, as the verbs of these names do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from crosswind.analysis.compare import RunComparison
from crosswind.analysis.compare import compare as compare_folders
from crosswind.api.loaded import LoadedRun, load
from crosswind.errors import CrosswindError, Exit
from crosswind.fingerprint.measure.machines import Bounds
from crosswind.plan import selected
from crosswind.report import write_report, write_report_so_far
from crosswind.report.terminal import shown
from crosswind.runner import run as carry_out
from crosswind.spec.dilation import slowed
from crosswind.spec.named_experiment import named_experiment
from crosswind.stream import Event, Note, Stream


class RunNotWhole(CrosswindError):
    """Trials failed or are void, or the run was stopped; what was measured is stored.

    Attributes:
        folder: of the run, for `crosswind.load` and `crosswind resume`.
        remarks: what is not as it should be, in sentences.
    """

    exit = Exit.TRIALS

    def __init__(self, folder: Path, remarks: Sequence[str]) -> None:
        super().__init__("; ".join((*remarks, f"what was measured is in {folder}")))
        self.folder = folder
        self.remarks = tuple(remarks)


def run(
    experiment: str | os.PathLike[str] | Mapping[str, object],
    folder: str | os.PathLike[str] = "results",
    *,
    only: Sequence[str] = (),
    once: bool = False,
    dilation: int | None = None,
    keep_going: bool = False,
    load_at_most: float | None = None,
    memory_at_most: str | None = None,
    traffic_at_most: str | None = None,
    quiet: bool = False,
) -> LoadedRun:
    """Run an experiment trial by trial, write its report, and return its results.

    Call it in the main thread: Ctrl-C and SIGTERM end the trial in progress and leave what is stored.

    Args:
        experiment: a file, the name of an experiment of the catalogue, or the content of a file.
        folder: of all results; the run gets a folder of its own in it.
        only: names of conditions to run; all of them when empty.
        once: run one trial of each condition.
        dilation: how many times slower time passes in the nodes; as the experiment says when absent.
        keep_going: go on though all trials of the first block failed for the same reason.
        load_at_most: refuse to begin above this load average of a minute, per core.
        memory_at_most: refuse above this share of memory in use, such as `80%`.
        traffic_at_most: refuse above this rate through any interface, such as `1Mbit/s`.
        quiet: print nothing; else progress and notes go to standard error.
    Raises:
        SpecErrors: everything that is wrong with the experiment; nothing was run.
        CrosswindError: this machine cannot run it, or is busier than allowed; nothing was run.
        RunNotWhole: trials failed or are void, or the run was stopped; names the folder.
    """
    bounds = Bounds.read(load_at_most, memory_at_most, traffic_at_most)
    named = named_experiment(experiment)
    resolved = selected(slowed(named.resolved, dilation), tuple(only), once)
    stream = Stream[Event]()
    with nullcontext() if quiet else shown(stream):
        outcome = carry_out(
            resolved,
            named.text,
            named.folder,
            Path(folder),
            stream,
            bounds,
            report=write_report_so_far,
            keep_going=keep_going,
        )
        # A run that found no room for its first table has nothing to report.
        if (outcome.folder / "trials.parquet").is_file():
            write_report(outcome.folder)
        if outcome.exit is Exit.TRIALS:
            raise RunNotWhole(outcome.folder, outcome.remarks)
        for remark in outcome.remarks:
            stream.publish(Note(text=remark))
    return load(outcome.folder)


def compare(
    base: str | os.PathLike[str] | LoadedRun,
    other: str | os.PathLike[str] | LoadedRun,
    *,
    force: bool = False,
) -> RunComparison:
    """Compare two runs: better, worse or undecided, for every condition and every number of a trial.

    Args:
        base, other: folders, as for `crosswind.load`, or loaded runs.
        force: compare although networks, machines, applications or conditions differ.
    Returns: `compared` has an entry for each condition and measure, with the ratio of medians (other over
        base) and its interval; `sameness.notes` lists what else differs.
    Raises:
        NotAResultsFolder: one of them is none.
        NotComparable: they differ in more than their numbers, or have nothing in common.
    """
    return compare_folders(_folder_of(base), _folder_of(other), force=force)


def _folder_of(run: str | os.PathLike[str] | LoadedRun) -> Path:
    return run.folder if isinstance(run, LoadedRun) else Path(run)
