"""Print results and errors the same way in every verb."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return a console for tables and progress; it honours NO_COLOR and is plain off a terminal."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def print_error(text: str, *, prefix: bool = True) -> None:
    """Print an error to stderr, after `error: ` unless its lines name their place themselves."""
    color = False if "NO_COLOR" in os.environ else None
    start = click.style("error: ", fg="red", bold=True) if prefix else ""
    click.echo(start + text, err=True, color=color)


def print_json(value: Any) -> None:
    """Print a value as JSON, for scripts."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
