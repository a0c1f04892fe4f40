"""What programs write as JSON, with types: summaries, reports, results of a load."""

from typing import Self

from pydantic import JsonValue

from crosswind.results.measurement import ClockLine
from crosswind.spec.resolved.part import ResolvedPart


class WrittenPart(ResolvedPart):
    """A document that a program wrote, or a part of one.

    The rules are those of a resolved experiment. Unknown keys are kept, so a trial stores all that its tool
    reported.
    """


class Facts(WrittenPart):
    """What was run, and what the tool reported: stored with the trial, as `load` in the JSON of its monitors.

    Attributes:
        tool: that measured.
        version: of the tool.
        parameters: that it ran with, by name; an open loop has a `rate`.
    """

    tool: str | None = None
    version: str | None = None
    parameters: dict[str, JsonValue]

    def on_clock(self, clock: ClockLine) -> Self:
        """Return the same with its instants on the clock that `clock` is compared with."""
        return self
