"""Say what a results folder or a fingerprint holds: as a page, as JSON, or as a table for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from crosswind.cli._output import console, print_json
from crosswind.errors import CrosswindError


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("more", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON; write nothing.")
@click.option(
    "--table",
    "language",
    type=click.Choice(["latex", "markdown"]),
    help="Print the summary as a table for a paper; write nothing.",
)
def command(
    folder: Path, more: tuple[Path, ...], as_json: bool, language: Literal["latex", "markdown"] | None
) -> None:
    """Print what the results in FOLDER say and write report.html beside them.

    FOLDER is that of one run, or of an experiment: then its latest run is taken. Nothing but the folder is
    needed, so it may be a copy from another machine. A fingerprint's file will do as well: its page is
    written beside it, fingerprint.html for fingerprint.json. So will those of regimes, MORE than one where
    there are: a table has a row for each.
    """
    from crosswind.fingerprint.regime.table import is_regime

    if folder.is_file() and is_regime(folder):
        if language:
            raise CrosswindError(f"{folder} is a regime: it has a table of its own, and no --table")
        _regimes([folder, *more], as_json)
        return
    if more:
        raise CrosswindError(f"{folder} is no regime: give one folder, one fingerprint, or several regimes")
    if folder.is_file():
        if as_json or language:
            raise CrosswindError(f"{folder} is a fingerprint: it has a page, and neither --json nor --table")
        from crosswind.fingerprint.page import write_page

        click.echo(f"page: {write_page(folder)}")
        return
    from crosswind.report import summarise, write_report
    from crosswind.report.cautions import cautions
    from crosswind.report.paper_table import paper_table
    from crosswind.report.table import print_summary

    if as_json and language:
        raise click.UsageError("--json and --table: give one of them")
    summary = summarise(folder)
    if as_json:
        print_json(summary.as_json() | {"cautions": [caution.as_json() for caution in cautions(summary)]})
        return
    if language:
        click.echo(paper_table(summary, language), nl=False)
        return
    print_summary(summary, console())
    click.echo(f"report: {write_report(folder)}")


def _regimes(paths: list[Path], as_json: bool) -> None:
    from crosswind.fingerprint.regime.table import print_regimes, read_regimes, regimes_as_dict

    regimes = read_regimes(paths)
    if as_json:
        print_json(regimes_as_dict(regimes))
    else:
        print_regimes(regimes, console())
