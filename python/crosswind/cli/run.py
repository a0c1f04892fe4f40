"""Run an experiment, trial by trial, and store each as it ends."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._bounds import bounded, bounds_of
from crosswind.errors import Exit


@click.command()
@click.argument("file")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder of all results.",
)
@bounded
@click.option("--json", "as_json", is_flag=True, help="Print folder, exit status and remarks as JSON.")
def command(
    file: str,
    results: Path,
    load_at_most: float | None,
    memory_at_most: str | None,
    traffic_at_most: str | None,
    as_json: bool,
) -> Exit:
    """Run an experiment, trial by trial, and store each as it ends.

    FILE is an experiment file or the name of an experiment of the catalogue. A run that was interrupted is
    continued with `crosswind resume`. What the machine does beside when it begins is kept with the results,
    and refused where it is more than the --...-at-most say.
    """
    from crosswind.cli._experiment import named_experiment
    from crosswind.cli._finish import finish
    from crosswind.runner import progress_for, run

    bounds = bounds_of(load_at_most, memory_at_most, traffic_at_most)
    named = named_experiment(file)
    outcome = run(named.resolved, named.text, named.folder, results, progress_for(), bounds)
    return finish(outcome, as_json=as_json)
