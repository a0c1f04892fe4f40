"""Check whether this machine can run Crosswind, how exact it is, and what is missing."""

from __future__ import annotations

import click

from crosswind.cli._output import console, print_json
from crosswind.errors import Exit


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print findings and calibration as JSON.")
def command(as_json: bool) -> Exit:
    """Check whether this machine can run Crosswind, how exact it is, and what is missing.

    It takes about five seconds, most of them for a calibration: it sends real packets between two nodes and
    measures how exactly they were delayed. The best calibration of the last seven days is stored, and
    `crosswind plan` checks experiments against it. Nothing else is changed. Run it on a quiet machine. Exit
    status 3: something is missing.
    """
    from rich.console import Console

    from crosswind.doctor.diagnosis import diagnose
    from crosswind.doctor.text import print_diagnosis

    # Progress goes to stderr, and only on a terminal.
    with Console(stderr=True).status("") as status:
        diagnosis = diagnose(status.update)
    if as_json:
        print_json(diagnosis.as_json())
    else:
        print_diagnosis(diagnosis, console())
    return Exit.DONE if diagnosis.ready else Exit.PREFLIGHT
