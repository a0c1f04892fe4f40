"""The end of every verb that runs trials: table, report, notes, exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._output import console, print_json
from crosswind.errors import Exit

if TYPE_CHECKING:
    from crosswind.runner import RunOutcome


def finish(outcome: RunOutcome, *, as_json: bool = False) -> Exit:
    """Write the report, print the results and the notes of the run, and return its exit status."""
    from crosswind.report import print_table, write_report
    from crosswind.results import FolderInUse

    # A run that had no disk space for its first table has only notes.
    has_tables = (outcome.folder / "trials.parquet").is_file()
    report: Path | None = None
    try:
        report = write_report(outcome.folder) if has_tables else None
    except (OSError, FolderInUse) as error:
        click.echo(f"report.html not written: {error}; try `crosswind report {outcome.folder}`", err=True)
    if as_json:
        print_json(
            {
                "folder": str(outcome.folder),
                "report": str(report) if report else None,
                "exit": int(outcome.exit),
                "remarks": outcome.remarks,
            }
        )
        return outcome.exit
    if has_tables:
        print_table(outcome.folder, console())
    if report:
        click.echo(f"report: {report}")
    for remark in outcome.remarks:
        console(stderr=True).print(remark, markup=False)
    return outcome.exit
