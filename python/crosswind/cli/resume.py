"""Continue a run that was interrupted; finished trials stay as they are."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.errors import CrosswindError, Exit


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("results"))
@click.option("--json", "as_json", is_flag=True, help="Print folder, exit status and remarks as JSON.")
def command(folder: Path, as_json: bool) -> Exit:
    """Continue a run that was interrupted; finished trials stay as they are.

    FOLDER is that of a run, or one that holds runs (results when absent): then the latest is continued.
    Failed and void trials are run again. Refused when the experiment or the machine has changed since.
    """
    from crosswind.cli._finish import finish
    from crosswind.runner import progress_for, resume
    from crosswind.store import latest_folder

    try:
        path = folder if (folder / "journal.sqlite").is_file() else latest_folder(folder)
        outcome = resume(path, progress_for())
    except FileNotFoundError as error:
        raise CrosswindError(str(error)) from error
    return finish(outcome, as_json=as_json)
