"""Print results and errors the same way in every verb."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """Return a console for tables and text; without a terminal or with NO_COLOR it has no colours.

    On a terminal, text wraps between words. Otherwise each paragraph is one line, which scripts can search.
    """
    from rich.console import Console

    found = Console(stderr=stderr, highlight=False)
    found.soft_wrap = not found.is_terminal
    return found


def print_error(text: str, *, prefix: bool = True) -> None:
    """Print an error to stderr, with the prefix `error: ` unless its lines begin with their place."""
    color = False if "NO_COLOR" in os.environ else None
    start = click.style("error: ", fg="red", bold=True) if prefix else ""
    click.echo(start + text, err=True, color=color)


def as_json(value: object) -> str:
    """Return a value as the JSON that verbs print."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def print_json(value: object) -> None:
    """Print a value as JSON, for scripts."""
    click.echo(as_json(value))
