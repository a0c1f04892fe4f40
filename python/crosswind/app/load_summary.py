"""The summary that `crosswind-load` writes of single operations (docs/reference/contracts.md, section 4)."""

from typing import Self

from crosswind.app.written import Facts
from crosswind.results.measurement import ClockLine, LoadConnection


class LoadSummary(Facts):
    """What a load did.

    Attributes:
        started_ns: start of the measured phase, CLOCK_MONOTONIC.
        finished_ns: its end.
        payload_bytes: of the bodies of measured requests of `http`; 0 for the other loads.
        first_error: None where there was none.
    """

    started_ns: int
    finished_ns: int
    operations: int
    errors: int
    payload_bytes: int
    first_error: str | None
    not_started: int
    ended_by: str
    connections: list[LoadConnection]

    def on_clock(self, clock: ClockLine) -> Self:
        return self.model_copy(
            update={"started_ns": clock.here(self.started_ns), "finished_ns": clock.here(self.finished_ns)}
        )
