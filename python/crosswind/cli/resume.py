"""Continue a run that was interrupted; finished trials stay as they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._bounds import bounded
from crosswind.cli._console import console_option, in_browser_if
from crosswind.cli._keep_going import keep_going_option
from crosswind.cli._machine import require_writable
from crosswind.cli._metrics import metrics_option, metrics_served
from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.fingerprint.measure.machines import Bounds


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("results"))
@keep_going_option
@console_option
@bounded
@metrics_option
@click.option("--json", "as_json", is_flag=True, help="Print folder, exit status and notes as JSON.")
def command(
    folder: Path,
    keep_going: bool,
    in_browser: bool,
    bounds: Bounds,
    metrics: int | None,
    as_json: bool,
) -> Exit:
    """Continue an interrupted run; finished trials stay as they are.

    FOLDER is the folder of a run, or one that holds runs (default: results); then the latest run is
    continued. Failed, void and interrupted trials are run again. The run stops if all trials of the first
    block fail again for the same reason, unless --keep-going is given. It is refused while another process
    writes to the folder, if the experiment or the machine has changed, or if the machine is busier than the
    limits allow: those of the run, or the --...-at-most options. With --console it prints the address of a
    page that only this machine can open.
    """
    from crosswind.cli._finish import finish
    from crosswind.report import write_report_so_far
    from crosswind.report.terminal import shown
    from crosswind.results import ResultsFolder, latest_folder
    from crosswind.runner import resume
    from crosswind.stream import Event, Stream

    try:
        path = folder if (folder / "journal.sqlite").is_file() else latest_folder(folder)
        require_writable(path, "make the folder writable, or copy it and resume the copy")
        stream = Stream[Event]()
        kept = ResultsFolder.open(path)
        resolved = kept.resolved()
        page = in_browser_if(in_browser, path / "experiment.yaml", resolved, stream, kept.kept_files())
        with shown(stream), metrics_served(resolved.topology, stream, metrics), page as steering:
            outcome = resume(
                path, stream, bounds, report=write_report_so_far, keep_going=keep_going, steering=steering
            )
    except FileNotFoundError as error:
        raise CrosswindError(str(error)) from error
    return finish(outcome, as_json=as_json)
