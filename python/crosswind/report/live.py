"""A run as a table that changes: one row per condition, and below it the trial that runs.

It is drawn only when an event comes: a thread that redraws would disturb the measurement. No event comes
between the begin of a measurement and its end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from crosswind.report.so_far import so_far_table, trials_for_interval
from crosswind.report.trial_text import left, verdict
from crosswind.spec.resolved import slower_text
from crosswind.stream import Event, Note, RunBegun, SoFar, TrialBegun, TrialEnded, TrialReached
from crosswind.text.units import short_names

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_DOING = {"up": "starts the application", "prepared": "measures", "measured": "stores the results"}
_OTHER_LINES = 7  # a note, an empty line, the header, the line below the table, and the cursor's


class LiveTable:
    """Draws the state of a run on a terminal."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        self._baseline = ""
        self._short: dict[str, str] = {}
        self._trial: TrialBegun | None = None
        self._doing = ""
        self._known: SoFar | None = None
        self._ends: defaultdict[str, Counter[str]] = defaultdict(Counter)
        # The results follow the last trial, so the table goes.
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
        self._live.start()

    def show(self, event: Event) -> None:
        """Take an event and draw the table again."""
        match event:
            case Note():
                self._console.print(event.text, markup=False)
            case RunBegun():
                self._baseline, self._short = event.baseline, short_names(event.conditions)
                if slower := slower_text(event.dilations):
                    self._console.print(slower, markup=False)
            case TrialBegun():
                self._trial, self._doing = event, "builds the network"
            case TrialReached():
                self._doing = _DOING[event.step]
            case TrialEnded():
                self._take_end(event)
            case SoFar():
                self._known = event
        self._live.update(self.drawn(), refresh=True)

    def close(self) -> None:
        """Remove the table."""
        self._live.stop()

    def drawn(self) -> RenderableType:
        """Return the table and the line below it."""
        from rich.console import Group
        from rich.text import Text

        below = Text(self._below(), style="dim", no_wrap=True, overflow="ellipsis")
        if self._known is None:
            return below
        known, room = self._known, max(3, self._console.height - _OTHER_LINES)
        shown = known.model_copy(update={"conditions": known.conditions[:room]})
        parts: list[RenderableType] = ["", so_far_table(shown, self._baseline, self._ends)]
        if more := len(known.conditions) - len(shown.conditions):
            parts.append(Text(f"and {more} more conditions", style="dim"))
        return Group(*parts, below)

    def _take_end(self, event: TrialEnded) -> None:
        self._doing = "has ended"
        end = event.fidelity or event.status
        self._ends[event.condition][end] += 1
        if end not in ("faithful", "unverified"):
            self._console.print(f"{event.trial}: {verdict(event)}", markup=False)

    def _below(self) -> str:
        parts = []
        if self._known is not None:
            parts.append(f"{self._known.blocks} of {self._known.blocks_planned} blocks")
            if needed := trials_for_interval(self._known):
                parts.append(f"an interval needs {needed} trials")
        if (trial := self._trial) is not None:
            parts.append(f"trial {trial.ended + 1} of {trial.trials}")
            if trial.left_s is not None:
                parts.append(left(trial.left_s))
            parts.append(f"{self._short[trial.condition]} {self._doing}")
        return " | ".join(parts)
