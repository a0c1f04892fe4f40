"""A measurement as a whole (docs/reference/contracts.md, section 3)."""

from __future__ import annotations

from pydantic import Field, JsonValue

from crosswind.results.measurement.carried import Carried
from crosswind.results.measurement.elements import ElementCounts
from crosswind.results.measurement.emulation import Conservation, EmulatorHost, Ledger, Window
from crosswind.results.measurement.faults import Fault
from crosswind.results.measurement.history import CheckedHistory
from crosswind.results.measurement.machines import MachinePart, MeasuredMachine
from crosswind.results.measurement.monitored import Monitored
from crosswind.results.measurement.nodes import NodeUsage
from crosswind.results.measurement.rates import DrivenLink, InterferenceSource
from crosswind.results.measurement.tables import DropRow, HeldRow, RecordedRows, RetransmissionRow, Series
from crosswind.results.measurement.written import CaptureState, RecordingState
from crosswind.results.part import StoredPart
from crosswind.spec.resolved.faults import ResolvedCut
from crosswind.spec.resolved.part import left_out_if_empty
from crosswind.spec.resolved.perceived_time import PerceivedTime

# Changes by hand that follow each other within this time are one move, of a slider that is dragged.
DRAG_NS = 1_000_000_000


class Change(StoredPart):
    """A condition, a step of its timeline, or a cut by hand that was applied.

    Attributes:
        at_ns: when it took effect.
        asked_ns: when it was due.
        by: `up`, `set`, `timeline` or `cut`.
        condition: its name.
        places: the elements that were replaced, by place; a long list is given as its length.
        cuts: all cuts from then on, of the condition or, of a `cut`, those by hand; None where they did not
            change.
    """

    at_ns: int
    asked_ns: int
    by: str
    condition: str
    places: dict[str, JsonValue]
    cuts: list[ResolvedCut] | None = left_out_if_empty(None)


class LoadConnection(StoredPart):
    """A connection of the load generator, with its addresses."""

    connection: int
    local: str
    remote: str


class StoredLoad(StoredPart):
    """What the load reported of itself; what else an application stores is kept.

    Attributes:
        not_started: operations of an open loop that were due and never sent; None in a closed one.
        checked: what the check of its history found; None where it writes none.
    """

    not_started: int | None = None
    checked: CheckedHistory | None = left_out_if_empty(None)
    connections: list[LoadConnection] = Field(default_factory=list)


class Measurement(StoredPart):
    """What was measured in one window.

    Attributes:
        wait_mode: `spin` or `sleep`: what the emulator did between packets.
        domains: how many threads carried the network.
        changes: the last change before the window, and those within it.
        recording, capture: None where there is none.
        time: how the application perceives time, where it is slowed down; all instants and lengths here are
            perceived ones, and those of the machine are shorter by the factor.
        faults: those of the timeline and by hand, in the order in which they were due.
        carried: by what, where it was not the emulator; `ledger`, `conservation` and `host` then say nothing.
        machine: of an agent that carries a part of the network.
        machines: that carried the network together; the first one's clock counts. Empty where one did.
        load: only in a stored measurement.
    """

    window: Window
    wait_mode: str = "spin"
    domains: int = 1
    ledger: Ledger
    conservation: Conservation
    host: EmulatorHost
    changes: list[Change] = Field(default_factory=list)
    recording: RecordingState | None = None
    capture: CaptureState | None = None
    elements: list[ElementCounts] = Field(default_factory=list)
    series: Series = Series()
    monitors: list[Monitored] = Field(default_factory=list)
    interference: list[InterferenceSource] = Field(default_factory=list)
    capacity: list[DrivenLink] = Field(default_factory=list)
    nodes: list[NodeUsage] = Field(default_factory=list)
    drops: RecordedRows[DropRow] = RecordedRows[DropRow]()
    retransmissions: RecordedRows[RetransmissionRow] = RecordedRows[RetransmissionRow]()
    held_acknowledgements: RecordedRows[HeldRow] = RecordedRows[HeldRow]()
    machine: MachinePart | None = None
    time: PerceivedTime | None = left_out_if_empty(None)
    carried: Carried | None = left_out_if_empty(None)
    machines: list[MeasuredMachine] = left_out_if_empty([])
    faults: list[Fault] = left_out_if_empty([])
    load: StoredLoad = StoredLoad()

    @property
    def changes_within(self) -> list[Change]:
        """The changes within the window; of those that one move by hand made, the last."""
        found: list[Change] = []
        for change in self.changes:
            if change.at_ns <= self.window.started_ns:
                continue
            last = found[-1] if found else None
            if last and last.by == change.by == "set" and change.at_ns - last.at_ns < DRAG_NS:
                found.pop()
            found.append(change)
        return found

    @property
    def retransmitted(self) -> int:
        """TCP segments that nodes sent again, those without a row included."""
        return len(self.retransmissions.rows) + self.retransmissions.lost_records
