"""Change the condition of the fabric that is up, while programs run in it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("condition", metavar="FILE|NAME")
@click.option("--up", "pid", type=int, metavar="PID", help="Which `crosswind up`, where several run.")
def command(condition: str, pid: int | None) -> None:
    """Change the condition of the fabric that is up, while programs run in it.

    FILE holds one condition; NAME is one of the experiment that is up, or of the catalogue. Prints the
    instant from which it holds, in ns of CLOCK_MONOTONIC.
    """
    from crosswind.testbed.control import ask

    # The other process has a current folder of its own.
    meant = str(Path(condition).resolve()) if Path(condition).is_file() else condition
    changed = ask({"do": "set", "condition": meant}, pid)
    click.echo(f"{changed['condition']} effective_ns {changed['effective_ns']}")
