"""The option of every verb that runs trials: show them live in the browser, and steer them there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from crosswind.runner import Steering
    from crosswind.spec import Resolved
    from crosswind.spec.load import Source
    from crosswind.stream import Event, Stream

console_option = click.option(
    "--console",
    "in_browser",
    is_flag=True,
    help="Show the run live in the browser: trials, intervals, and the network of the trial that runs, which "
    "may be steered there.",
)


@contextmanager
def in_browser_if(
    wanted: bool,
    source: Source,
    resolved: Resolved,
    stream: Stream[Event],
    kept: Mapping[str, Path] = MappingProxyType({}),
) -> Iterator[Steering]:
    """Serve the page of a run while the block runs, and print its address, if that is wanted.

    Args:
        source: the experiment's file.
        kept: copies of files that it names, as in `load_experiment`.
    Returns: what moves the trial that runs.
    """
    from crosswind.runner import Steering

    steering = Steering(stream)
    if not wanted:
        yield steering
        return
    from crosswind.console import RunConsole
    from crosswind.spec import load_setup

    with RunConsole(load_setup(source, kept), resolved, stream, steering) as shown:
        click.echo(f"console: {shown.url}", err=True)
        try:
            yield steering
        finally:
            stream.end()
