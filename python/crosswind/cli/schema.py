"""Print the JSON Schema of experiment files, for editors."""

from __future__ import annotations

import click

from crosswind.cli._output import print_json


@click.command()
@click.argument("kind", type=click.Choice(["experiment", "condition"]), default="experiment")
def command(kind: str) -> None:
    """Print the JSON Schema of experiment files, for editors.

    `crosswind init` writes it beside a new experiment. For another one:

    \b
    crosswind schema > experiment.schema.json
    and at the top of the file:  # yaml-language-server: $schema=experiment.schema.json
    """
    from crosswind.spec.schema import condition_schema, experiment_schema

    print_json(experiment_schema() if kind == "experiment" else condition_schema())
