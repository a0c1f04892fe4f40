"""Continue a run that was interrupted; finished trials stay as they are."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._bounds import bounded, bounds_of
from crosswind.cli._keep_going import keep_going_option
from crosswind.cli._machine import require_writable
from crosswind.errors import CrosswindError, Exit


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("results"))
@keep_going_option
@bounded
@click.option("--json", "as_json", is_flag=True, help="Print folder, exit status and remarks as JSON.")
def command(
    folder: Path,
    keep_going: bool,
    load_at_most: float | None,
    memory_at_most: str | None,
    traffic_at_most: str | None,
    as_json: bool,
) -> Exit:
    """Continue a run that was interrupted; finished trials stay as they are.

    FOLDER is that of a run, or one that holds runs (results when absent): then the latest is continued.
    Failed, void and interrupted trials are run again. When all trials of the first block fail for the same
    reason again, the run stops, unless --keep-going is given. Refused while another process runs trials into
    the folder, when the experiment or the machine has changed since, and where the machine does more beside
    than was allowed when the run began, or than the --...-at-most say now.
    """
    from crosswind.cli._finish import finish
    from crosswind.results import latest_folder
    from crosswind.runner import progress_for, resume

    bounds = bounds_of(load_at_most, memory_at_most, traffic_at_most)
    try:
        path = folder if (folder / "journal.sqlite").is_file() else latest_folder(folder)
        require_writable(path, "make the folder writable, or copy it and resume the copy")
        outcome = resume(path, progress_for(), bounds, keep_going=keep_going)
    except FileNotFoundError as error:
        raise CrosswindError(str(error)) from error
    return finish(outcome, as_json=as_json)
