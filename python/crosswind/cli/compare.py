"""Compare two results folders, or two fingerprints of networks."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._output import console, print_json
from crosswind.errors import CrosswindError, Exit


@click.command()
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Though networks, machines or conditions differ.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(base: Path, other: Path, force: bool, as_json: bool) -> Exit:
    """Compare the run in OTHER with the one in BASE: better, worse or undecided, condition by condition.

    Each is the folder of a run, or of an experiment: then its latest run is taken. Every number has its ratio
    with an interval over trials, the chance that a trial of OTHER is the larger one, and, where nothing is
    decided, how many more trials would; it is refused, with the reason, where the trials of one run are no
    repetitions. Exit status 7 when the networks that the two measured before and after their trials differ,
    or the machines, applications or conditions; versions that differ are named, since they may be what is
    compared.

    Two fingerprints (JSON files of `crosswind fingerprint`) are compared figure by figure: the same (exit
    status 0), different (7) or undecided (6), by an interval of the change and a margin that is shown.
    """
    if base.is_file() != other.is_file():
        file, folder = (base, other) if base.is_file() else (other, base)
        raise CrosswindError(
            f"{file} is a file and {folder} is none: give two results folders, or two fingerprints"
        )
    if base.is_file():
        if force:
            raise CrosswindError("--force: is for results folders; fingerprints are compared in any case")
        return _fingerprints(base, other, as_json)
    from crosswind.analysis.compare import compare
    from crosswind.analysis.compare_text import print_comparison
    from crosswind.analysis.plain import as_plain

    comparison = compare(base, other, force=force)
    if as_json:
        print_json(as_plain(comparison))
    else:
        print_comparison(comparison, console())
    return Exit.DONE


def _fingerprints(base: Path, other: Path, as_json: bool) -> Exit:
    from crosswind.analysis.network.comparison import compare_fingerprints
    from crosswind.analysis.network.comparison_text import print_fingerprints
    from crosswind.analysis.network.document import read_fingerprint

    comparison = compare_fingerprints([read_fingerprint(base)], [read_fingerprint(other)])
    if as_json:
        print_json({"base": str(base), "other": str(other), **comparison.as_dict()})
    else:
        out = console()
        out.print(f"{other} against {base}", style="bold", markup=False)
        print_fingerprints(comparison, out)
    return comparison.exit
