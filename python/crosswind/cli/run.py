"""Run an experiment trial by trial, and store each trial as it ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._bounds import bounded
from crosswind.cli._console import console_option, in_browser_if
from crosswind.cli._dilation import dilation_option
from crosswind.cli._keep_going import keep_going_option
from crosswind.cli._machine import require_writable
from crosswind.cli._metrics import metrics_option, metrics_served
from crosswind.cli._testbed import testbed_option
from crosswind.errors import Exit

if TYPE_CHECKING:
    from crosswind.fingerprint.measure.machines import Bounds


@click.command()
@click.argument("file")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder for results.",
)
@click.option(
    "--only",
    metavar="CONDITION",
    multiple=True,
    help="Run only this condition. Repeat it for several.",
)
@click.option("--once", is_flag=True, help="Run one trial per condition, as a smoke test.")
@testbed_option
@dilation_option
@keep_going_option
@click.option("--keep", is_flag=True, help="Let the files of the last trial stay, on every machine.")
@console_option
@bounded
@metrics_option
@click.option("--json", "as_json", is_flag=True, help="Print folder, exit status and notes as JSON.")
def command(
    file: str,
    results: Path,
    only: tuple[str, ...],
    once: bool,
    testbed: Path | None,
    dilation: int | None,
    keep_going: bool,
    keep: bool,
    in_browser: bool,
    bounds: Bounds,
    metrics: int | None,
    as_json: bool,
) -> Exit:
    """Run an experiment trial by trial, and store each trial as it ends.

    FILE is an experiment file or the name of a catalogue experiment. `crosswind resume` continues an
    interrupted run. The run stops if all trials of the first block fail for the same reason, unless
    --keep-going is given. The load of the machine at the start is stored with the results; the run is
    refused if it exceeds the --...-at-most options. With --console it prints the address of a page that only
    this machine can open.
    """
    from crosswind.cli._finish import finish
    from crosswind.plan import selected
    from crosswind.report import write_report_so_far
    from crosswind.report.terminal import shown
    from crosswind.runner import run
    from crosswind.spec import find_experiment
    from crosswind.spec.dilation import slowed
    from crosswind.spec.named_experiment import named_experiment
    from crosswind.spec.testbed_file import on_testbed
    from crosswind.stream import Event, Stream

    require_writable(results, "name a folder that you may write with --results")
    named = named_experiment(file)
    resolved = selected(slowed(on_testbed(named.resolved, testbed), dilation), only, once)
    stream = Stream[Event]()
    page = in_browser_if(in_browser, find_experiment(file), resolved, stream)
    with shown(stream), metrics_served(resolved.topology, stream, metrics), page as steering:
        outcome = run(
            resolved,
            named.text,
            named.folder,
            results,
            stream,
            bounds,
            report=write_report_so_far,
            keep_going=keep_going,
            keep_files=keep,
            steering=steering,
        )
    return finish(outcome, as_json=as_json)
