"""Compare two results folders, or two fingerprints of networks."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._output import console, print_json
from crosswind.errors import CrosswindError, Exit


@click.command()
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Compare even if networks, machines or conditions differ.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(base: Path, other: Path, force: bool, as_json: bool) -> Exit:
    """Compare two runs, condition by condition: OTHER is better, worse or undecided against BASE.

    BASE and OTHER are folders of a run, or of an experiment; then the latest run counts. Every number is
    shown as a ratio with an interval over trials, and with the probability that a trial of OTHER is larger.
    If a comparison is undecided, the output says how many more trials would decide it. If trials of a run
    are not independent, the comparison is refused with the reason. Exit status 7: the measured networks,
    the machines, the applications or the conditions differ. Different versions are listed, since they may
    be what you compare.

    Two fingerprints (JSON files of `crosswind fingerprint`) are compared figure by figure: same (exit
    status 0), different (7) or undecided (6), by an interval of the change and a margin that is shown.
    """
    if base.is_file() != other.is_file():
        file, folder = (base, other) if base.is_file() else (other, base)
        raise CrosswindError(
            f"{file} is a file, but {folder} is not: write two results folders, or two fingerprints"
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
        print_json({"base": str(base), "other": str(other), **comparison.as_json()})
    else:
        out = console()
        out.print(f"{other} against {base}", style="bold", markup=False)
        print_fingerprints(comparison, out)
    return comparison.exit
