"""Show the trials of a finished run again, in the browser."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Show the trials of a finished run again, in the browser.

    FOLDER is the folder of a run, or of an experiment; then its latest run counts. It prints the address of
    a page that only this machine can open: the network and the application of a trial along its time axis.
    Nothing is changed. It ends with Ctrl-C, SIGTERM or the end of its input. A network that runs is shown by
    the option --console of up, run and resume.
    """
    from crosswind.console import Replay
    from crosswind.results.reading import Results
    from crosswind.runner.interruption import Interrupted, Interruption

    interruption = Interruption()
    with interruption.handling(), Replay(Results(folder)) as shown:
        click.echo(f"console: {shown.url}")
        sys.stdout.flush()
        try:
            with interruption.allowed():
                sys.stdin.read()
        except Interrupted:
            return
