"""Check a run against an earlier one: exit status 5 if it is slower than allowed."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._output import print_json
from crosswind.cli._share import share
from crosswind.errors import Exit


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--against", "base", type=click.Path(path_type=Path), required=True, help="The earlier run.")
@click.option(
    "--max-slowdown",
    "allowed",
    callback=share,
    metavar="SHARE",
    default="5%",
    show_default=True,
    help="Largest slowdown that still passes.",
)
@click.option("--force", is_flag=True, help="Compare even if networks, machines or conditions differ.")
@click.option(
    "--junit", type=click.Path(path_type=Path, dir_okay=False), help="Also write JUnit XML to this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")
def command(run: Path, base: Path, allowed: float, force: bool, junit: Path | None, as_json: bool) -> Exit:
    """Check a run for a regression against an earlier one, for continuous integration.

    The check compares the application's first figure under every condition. It computes an exact 95 %
    interval, over trials, of how many times slower RUN is. Passed (exit status 0): the whole interval is
    within the allowed slowdown. Regression (5): the whole interval is beyond it. Undecided (6): the
    interval covers it; the output says how many more trials would decide. Refused (also 6): the trials are
    not independent, or trials of RUN failed in every attempt; the reason and a remedy are printed. Not
    comparable (7): networks, machines or conditions differ. If GITHUB_STEP_SUMMARY names a file, a table is
    appended to it.
    """
    from crosswind.analysis import check_text
    from crosswind.analysis.check import check
    from crosswind.analysis.plain import as_plain

    if junit is not None:
        require_writable(junit, "name another file with --junit")
    found = check(run, base, allowed, force=force)
    if junit is not None:
        junit.write_text(check_text.junit(found), encoding="utf-8")
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(check_text.markdown(found))
    if as_json:
        print_json({"exit": int(found.exit), **as_plain(found)})
    else:
        for line in check_text.lines(found):
            click.echo(line)
    return found.exit
