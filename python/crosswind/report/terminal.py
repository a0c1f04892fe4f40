"""What a run shows while it runs: a table that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from crosswind.stream import (
    Event,
    Note,
    RunBegun,
    SoFar,
    Stream,
    Subscription,
    TrialBegun,
    TrialEnded,
    TrialReached,
)

# Not the agent's steps: they are for readers that draw what packets do.
_SHOWN = (Note, RunBegun, TrialBegun, TrialReached, TrialEnded, SoFar)


class View(Protocol):
    """Shows events."""

    def show(self, event: Event) -> None:
        """Show what an event says."""

    def close(self) -> None:
        """Leave the terminal as it was."""


@contextmanager
def shown(stream: Stream[Event]) -> Iterator[None]:
    """Show the events of a run on standard error while the block runs; at its end none is missing."""
    from rich.console import Console

    from crosswind.report.lines import Lines
    from crosswind.report.live import LiveTable

    console = Console(stderr=True, highlight=False)
    view = LiveTable(console) if _changes() else Lines(console)
    events = stream.subscribe(kinds=_SHOWN)
    reader = threading.Thread(target=_follow, args=(events, view), name="terminal")
    reader.start()
    try:
        yield
    finally:
        events.close()
        reader.join()


def _changes() -> bool:
    """Return whether standard error is a terminal on which lines can change; a log of CI is none."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and "CI" not in os.environ


def _follow(events: Subscription[Event], view: View) -> None:
    try:
        for event in events:
            view.show(event)
    finally:
        view.close()
