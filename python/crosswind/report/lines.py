"""A run as plain lines: one when a trial ends, and now and then a table; no line changes, so a log stays
readable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosswind.report.so_far import so_far_table, trials_for_interval
from crosswind.report.trial_text import left, verdict
from crosswind.spec.resolved import slower_text
from crosswind.stream import Event, Note, RunBegun, SoFar, TrialBegun, TrialEnded
from crosswind.text.console import widen

if TYPE_CHECKING:
    from rich.console import Console


class Lines:
    """Prints the events of a run."""

    def __init__(self, console: Console) -> None:
        widen(console)
        self._console = console
        self._baseline = ""
        self._begun: TrialBegun | None = None
        self._blocks = 0  # complete at the last look

    def show(self, event: Event) -> None:
        """Print what an event says."""
        match event:
            case Note():
                self._print(event.text)
            case RunBegun():
                self._baseline = event.baseline
                if slower := slower_text(event.dilations):
                    self._print(slower)
            case TrialBegun():
                self._begun = event
            case TrialEnded():
                self._print(f"{self._place()}{event.condition}: {verdict(event)}{self._left()}")
            case SoFar():
                self._table(event)

    def close(self) -> None:
        """Nothing is left to print."""

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def _place(self) -> str:
        begun = self._begun
        return f"{begun.ended + 1:{len(str(begun.trials))}d}/{begun.trials}  " if begun else ""

    def _left(self) -> str:
        """Return the time left: as estimated when the trial began, less one trial."""
        begun = self._begun
        waiting = begun.trials - begun.ended if begun else 0
        if begun is None or begun.left_s is None or waiting <= 1:
            return ""
        return f"; {left(begun.left_s * (waiting - 1) / waiting)}"

    def _table(self, known: SoFar) -> None:
        """Print the table after blocks 1, 2, 4, 8 and so on, so that a log of many blocks stays short.

        The last block has none, because the results of the run follow; nor has a run whose trials all failed.
        """
        blocks, before = known.blocks, self._blocks
        self._blocks = blocks
        if blocks == before or blocks == known.blocks_planned or blocks & (blocks - 1):
            return
        if all(condition.value is None for condition in known.conditions):
            return
        needed = trials_for_interval(known)
        lacking = f"; an interval needs {needed} trials" if needed else ""
        self._print(f"so far, {blocks} of {known.blocks_planned} blocks{lacking}:")
        self._console.print(so_far_table(known, self._baseline))
