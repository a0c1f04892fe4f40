"""Write a commented example experiment to start from."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.errors import CrosswindError


class NotWrittenError(CrosswindError):
    """The file is there already, or cannot be made."""


@click.command()
@click.argument("file", default="experiment.yaml", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Write a commented example experiment.

    FILE is the file to write; default: experiment.yaml. An existing file is not overwritten.
    """
    from crosswind import catalog

    text = catalog.example_file().read_text(encoding="utf-8")
    try:
        with file.open("x", encoding="utf-8") as output:
            output.write(text)
    except FileExistsError:
        raise NotWrittenError(f"{file} exists; name another file, or remove it") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise NotWrittenError(
            f"{file} cannot be written: {reason}; name a file in a folder that you may write"
        ) from None
    click.echo(f"wrote {file}; next: crosswind plan {file}, then crosswind run {file}")
