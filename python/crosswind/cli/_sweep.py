"""`crosswind simulate --store`: the progress of a sweep, and what it left in its folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._output import console, print_json
from crosswind.errors import Exit

if TYPE_CHECKING:
    from crosswind.simulation.sweep import Progress, Workers
    from crosswind.spec import Resolved

# In a log, a line each time that this has passed.
_LINE_EVERY_S = 30.0


def simulate_into(path: Path, resolved: Resolved, workers: Workers, file: Path, *, as_json: bool) -> Exit:
    """Simulate what a folder lacks of an experiment's trials, and print what it has then.

    Args:
        file: as on the command line, for the hint at the end.
    """
    from crosswind.simulation.sweep import SweepFolder, sweep

    folder = SweepFolder.made_for(path, resolved)
    with _Line() as line:
        end = sweep(resolved, folder, workers, line.show)
    if as_json:
        print_json(
            {
                "folder": str(path),
                "trials": end.trials,
                "stored_before": end.stored,
                "simulated": end.simulated,
                "restarts": end.restarts,
                "elapsed_s": round(end.elapsed_s, 3),
            }
        )
        return Exit.DONE
    click.echo(f"{path}: {_summary(end)}")
    click.echo(f"Which conditions deserve a real trial: crosswind plan {file} --simulated {path}")
    return Exit.DONE


class _Line:
    """One line of progress on stderr, which changes on a terminal."""

    def __init__(self) -> None:
        self._console = console(stderr=True)
        self._status = self._console.status("starting workers")
        self._last_s = time.monotonic()
        self._restarts = 0

    def __enter__(self) -> _Line:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._status.stop()

    def show(self, progress: Progress) -> None:
        """Show the progress."""
        if progress.restarts > self._restarts:
            self._restarts = progress.restarts
            self._console.print("A worker was killed; its trials are simulated again.", style="yellow")
        if self._console.is_terminal:
            self._status.update(_text(progress))
        elif time.monotonic() >= self._last_s + _LINE_EVERY_S:
            self._last_s = time.monotonic()
            self._console.print(_text(progress))


def _text(progress: Progress) -> str:
    from crosswind.plan.text import duration
    from crosswind.text.units import count

    done = f"{count(progress.stored + progress.simulated)} of {count(progress.trials)} trials"
    left = "" if progress.left_s is None else f", {duration(progress.left_s)} left"
    return f"simulated {done}, {progress.per_s:.3g} a second{left}"


def _summary(end: Progress) -> str:
    from crosswind.text.units import count, number

    there = f", {count(end.stored)} of them from before" if end.stored else ""
    speed = f"; {number(end.per_s)} a second for {number(end.elapsed_s)} s" if end.simulated else ""
    return f"{count(end.trials)} simulated trials{there}{speed}"
