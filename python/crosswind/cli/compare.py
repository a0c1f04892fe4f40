"""Compare two results folders: better, worse or undecided, and how many more trials would decide."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._output import console, print_json


@click.command()
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--anyway", is_flag=True, help="Though machines, applications or conditions differ.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(base: Path, other: Path, anyway: bool, as_json: bool) -> None:
    """Compare the run in OTHER with the one in BASE: better, worse or undecided, condition by condition.

    Each is the folder of a run, or of an experiment: then its latest run is taken. Every number has its ratio
    with an interval over trials, the chance that a trial of OTHER is the larger one, and, where nothing is
    decided, how many more trials would; it is refused, with the reason, where the trials of one run are no
    repetitions. Exit status 7 when the two ran on different machines, or ran
    different applications or conditions; versions that differ are named, since they may be what is compared.
    """
    from crosswind.analysis.compare import compare
    from crosswind.analysis.compare_text import print_comparison
    from crosswind.report.plain import as_plain

    comparison = compare(base, other, anyway=anyway)
    if as_json:
        print_json(as_plain(comparison))
        return
    print_comparison(comparison, console())
