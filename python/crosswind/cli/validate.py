"""Check experiment files and list every error."""

from __future__ import annotations

from dataclasses import asdict

import click

from crosswind.cli._output import print_error, print_json
from crosswind.errors import Exit


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print problems and notes as JSON.")
def command(files: tuple[str, ...], as_json: bool) -> Exit:
    """Check experiment files and list every error.

    FILE is an experiment file, a network for `crosswind up`, a file of conditions, or the name of a
    catalogue experiment. Each error is shown with file, line and column. Exit status 2: there is an error.
    Notes name what is valid but may have another effect than expected. Nothing is run.
    """
    from crosswind.spec import SpecErrors
    from crosswind.spec.kinds import check_file
    from crosswind.spec.load import find_experiment

    problems, notes = [], []
    for file in files:
        try:
            kind, found = check_file(find_experiment(file))
        except SpecErrors as errors:
            problems += errors.problems
            if not as_json:
                print_error(str(errors), prefix=False)
                count = len(errors.problems)
                click.echo(f"{file}: {count} problem{'' if count == 1 else 's'}", err=True)
        else:
            notes += [{"file": file, "note": note} for note in found]
            if not as_json:
                click.echo(f"{file}: valid {kind}")
                for note in found:
                    click.echo(f"  note: {note}")
    if as_json:
        listed = [asdict(problem) for problem in problems]
        print_json({"valid": not problems, "problems": listed, "notes": notes})
    return Exit.USAGE if problems else Exit.DONE
