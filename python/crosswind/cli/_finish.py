"""How every verb that runs trials ends: table, report, remarks, exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from crosswind.cli._output import console, print_json
from crosswind.errors import Exit

if TYPE_CHECKING:
    from crosswind.runner import Outcome


def finish(outcome: Outcome, *, as_json: bool = False) -> Exit:
    """Write the report, print what the run found and how it ended, and return its exit status."""
    from crosswind.report import print_table, write_report

    report = write_report(outcome.folder)
    if as_json:
        print_json(
            {
                "folder": str(outcome.folder),
                "report": str(report),
                "exit": int(outcome.exit),
                "remarks": outcome.remarks,
            }
        )
        return outcome.exit
    print_table(outcome.folder, console())
    click.echo(f"report: {report}")
    for remark in outcome.remarks:
        click.echo(remark, err=True)
    return outcome.exit
