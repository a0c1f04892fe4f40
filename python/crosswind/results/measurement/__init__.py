"""The measurement of a window: what the agent reports, and what is stored of it.

It has one type for both (docs/reference/contracts.md, section 3). A stored measurement has no rows: these are
in tables beside it.
"""

from crosswind.results.measurement.carried import Carried, Decided, TrafficCheck
from crosswind.results.measurement.clock import SAME_CLOCK, ClockLine
from crosswind.results.measurement.elements import Amount, BucketContent, ElementCounts, PacketCounts
from crosswind.results.measurement.emulation import Conservation, EmulatorHost, Ledger, Span, Window
from crosswind.results.measurement.faults import Fault
from crosswind.results.measurement.history import CheckedHistory, Elements, ShownOperation, WrongKey
from crosswind.results.measurement.machines import MeasuredMachine, Tunnel
from crosswind.results.measurement.measurement import (
    DRAG_NS,
    Change,
    LoadConnection,
    Measurement,
    StoredLoad,
)
from crosswind.results.measurement.monitored import Histogram, Monitored, Trend
from crosswind.results.measurement.nodes import CpusLimit, MemoryLimit, NodeUsage
from crosswind.results.measurement.rates import DrivenLink, InterferenceSource, RateStep
from crosswind.results.measurement.tables import (
    BucketRow,
    DropRow,
    HeldRow,
    RecordedRows,
    RetransmissionRow,
    Series,
    SeriesRow,
)
from crosswind.results.measurement.written import CaptureState, RecordingState

__all__ = [
    "DRAG_NS",
    "SAME_CLOCK",
    "Amount",
    "BucketContent",
    "BucketRow",
    "CaptureState",
    "Carried",
    "Change",
    "CheckedHistory",
    "ClockLine",
    "Conservation",
    "CpusLimit",
    "Decided",
    "DrivenLink",
    "DropRow",
    "ElementCounts",
    "Elements",
    "EmulatorHost",
    "Fault",
    "HeldRow",
    "Histogram",
    "InterferenceSource",
    "Ledger",
    "LoadConnection",
    "MeasuredMachine",
    "Measurement",
    "MemoryLimit",
    "Monitored",
    "NodeUsage",
    "PacketCounts",
    "RateStep",
    "RecordedRows",
    "RecordingState",
    "RetransmissionRow",
    "Series",
    "SeriesRow",
    "ShownOperation",
    "Span",
    "StoredLoad",
    "TrafficCheck",
    "Trend",
    "Tunnel",
    "Window",
    "WrongKey",
]
