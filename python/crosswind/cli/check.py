"""Check a run against an earlier one: exit status 5 when it is slower than allowed."""

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
    help="Slower by so much is no regression.",
)
@click.option("--force", is_flag=True, help="Though networks, machines or conditions differ.")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit XML as well.")
@click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")
def command(run: Path, base: Path, allowed: float, force: bool, junit: Path | None, as_json: bool) -> Exit:
    """Check the run in RUN against an earlier one, for continuous integration.

    Asked of the application's first figure under every condition, with an exact 95 % interval over trials of
    how many times slower it is. All of it within what is allowed: passed, exit status 0. All of it beyond: a
    regression, 5. In between: undecided, 6, with how many more trials would decide. Trials that are no
    repetitions: refused, 6 as well, with the reason and what helps. Trials of RUN that failed for good: 6,
    too, however quick the others are. Runs that cannot be compared: 7. Where GITHUB_STEP_SUMMARY names a
    file, a table is appended to it.
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
