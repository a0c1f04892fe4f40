"""Show the trials of an experiment, their order, the time they take, and what will be done."""

from __future__ import annotations

import click

from crosswind.cli._output import print_json


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def command(file: str, as_json: bool) -> None:
    """Show the trials of an experiment, their order, the time they take, and what will be done.

    FILE is an experiment file or the name of an experiment of the catalogue. Nothing is changed. The
    plan ends with what this machine is too small for, and with what it will not honour by the calibration of
    `crosswind doctor`.
    """
    from crosswind.doctor import check_here
    from crosswind.plan import outline
    from crosswind.plan.text import describe
    from crosswind.runner.preflight import application_of
    from crosswind.runner.room import lack_of_room
    from crosswind.spec import find_experiment, load_experiment, resolve

    resolved = resolve(load_experiment(find_experiment(file)))
    planned = outline(resolved)
    too_little = lack_of_room(application_of(resolved), resolved["topology"]["nodes"])
    machine = [*too_little, *check_here(resolved)]
    if as_json:
        print_json({**planned.as_dict(), "machine": machine})
    else:
        click.echo(describe(planned))
        click.echo("\nThis machine")
        for remark in machine or ["by its calibration, it honours all of this"]:
            click.echo(f"  - {remark}")
