"""What a run shows while it runs: a line per trial, and on a terminal also a bar with the time left."""

import sys
from typing import Protocol, Self

from crosswind.plan import Trial
from crosswind.results import TrialRow


class Progress(Protocol):
    """Receives the events of a run."""

    def __enter__(self) -> Self:
        """Start to receive events."""

    def __exit__(self, *_: object) -> None:
        """Stop receiving events."""

    def say(self, text: str) -> None:
        """Receive a note."""

    def begin(self, trial: Trial, done: int, total: int, left_s: float | None) -> None:
        """Receive the start of a trial: `done` of `total` have ended, and `left_s` remain if known."""

    def end(self, row: TrialRow, figures: str) -> None:
        """Receive the end of an attempt, and its figures as text."""


def progress_for() -> Progress:
    """Return a bar on a terminal, plain lines elsewhere; both write to standard error."""
    return _Bar() if sys.stderr.isatty() else _Lines()


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def say(self, text: str) -> None:
        """Ignore a note."""

    def begin(self, trial: Trial, done: int, total: int, left_s: float | None) -> None:
        """Ignore the start of a trial."""

    def end(self, row: TrialRow, figures: str) -> None:
        """Ignore the end of an attempt."""


class _Lines:
    """One line when a trial ends; no line changes, so a log file stays readable."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def begin(self, trial: Trial, done: int, total: int, left_s: float | None) -> None:
        self._place = f"{done + 1:{len(str(total))}d}/{total}"
        waiting = total - done
        # The line is printed when the trial has ended, and then one trial less remains.
        self._left = (
            f"; {left(left_s * (waiting - 1) / waiting)}" if left_s is not None and waiting > 1 else ""
        )

    def end(self, row: TrialRow, figures: str) -> None:
        self.say(f"{self._place}  {row.condition}: {verdict(row, figures)}{self._left}")


class _Bar:
    """A bar below the lines. Rich is imported only here, because its import is slow."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("[dim]{task.description}"),
            console=Console(stderr=True, highlight=False),
            transient=True,
            # Drawn only when something has changed: a thread that redraws would disturb the measurement.
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=None, left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def say(self, text: str) -> None:
        self._bar.console.print(text, markup=False)

    def begin(self, trial: Trial, done: int, total: int, left_s: float | None) -> None:
        shown = left(left_s) if left_s is not None else ""
        self._bar.update(self._task, description=trial.condition, completed=done, total=total, left=shown)
        self._bar.refresh()

    def end(self, row: TrialRow, figures: str) -> None:
        self._bar.advance(self._task)
        self.say(f"{row.trial}: {verdict(row, figures)}")


def verdict(row: TrialRow, figures: str) -> str:
    """Return how an attempt ended, in one line."""
    if row.status == "failed":
        return f"failed: {row.reason}"
    if row.status == "interrupted":
        return str(row.reason)
    doubt = f" ({row.fidelity_reason})" if row.fidelity_reason else ""
    return f"{figures}, {row.fidelity}{doubt}"


def left(seconds: float) -> str:
    """Return the time left in one unit, such as `5 min left`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s left"
    if seconds < 5400:
        return f"{round(seconds / 60)} min left"
    return f"{seconds / 3600:.1f} h left"
