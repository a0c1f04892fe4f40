"""Write a commented example experiment, and the schema with which editors complete it."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._output import as_json
from crosswind.errors import CrosswindError

# The example names it by a relative path, so that editors find it in every copy, without a network.
SCHEMA_NAME = "experiment.schema.json"


class NotWrittenError(CrosswindError):
    """The file exists, or cannot be made."""


@click.command()
@click.argument("file", default="experiment.yaml", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Write a commented example experiment.

    FILE is the file to write; default: experiment.yaml. Beside it, the command writes experiment.schema.json,
    which editors use to complete and check FILE. Existing files are not overwritten.
    """
    from crosswind import catalog
    from crosswind.spec.schema import experiment_schema

    try:
        _write(file, catalog.example_file().read_text(encoding="utf-8"))
    except FileExistsError:
        raise NotWrittenError(f"{file} exists; name another file, or remove it") from None
    schema = file.parent / SCHEMA_NAME
    try:
        _write(schema, as_json(experiment_schema()) + "\n")
    except FileExistsError:
        click.echo(f"{schema} exists; crosswind schema > {schema} updates it")
    else:
        click.echo(f"wrote {schema}, with which editors complete and check {file.name}")
    click.echo(f"wrote {file}; next: crosswind plan {file}, then crosswind run {file}")


def _write(file: Path, text: str) -> None:
    """Write a new file.

    Raises: FileExistsError: it exists.
        NotWrittenError: it cannot be made.
    """
    try:
        with file.open("x", encoding="utf-8") as output:
            output.write(text)
    except FileExistsError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise NotWrittenError(
            f"{file} cannot be written: {reason}; name a file in a folder that you may write"
        ) from None
