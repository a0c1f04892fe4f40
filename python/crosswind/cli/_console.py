"""The option of every verb that runs trials: show them live in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from crosswind.spec import Resolved
    from crosswind.stream import Event, Stream

console_option = click.option(
    "--console",
    "in_browser",
    is_flag=True,
    help="Show the run live in the browser: trials, intervals, and the network of the trial that runs.",
)


@contextmanager
def in_browser_if(wanted: bool, resolved: Resolved, stream: Stream[Event]) -> Iterator[None]:
    """Serve the page of a run while the block runs, and print its address, if that is wanted."""
    if not wanted:
        yield
        return
    from crosswind.console import RunConsole

    with RunConsole(resolved, stream) as shown:
        click.echo(f"console: {shown.url}", err=True)
        try:
            yield
        finally:
            stream.end()
