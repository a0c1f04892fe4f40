"""The TCP flows of a capture, as `capture` prints them (contracts.md, section 7)."""

from __future__ import annotations

from crosswind.simulation.answer import DelayQuantiles, SimulatorAnswer


class FlowTimes(DelayQuantiles):
    """How often a time was measured, and its quantiles in ns."""

    count: int


class FlowFigures(SimulatorAnswer):
    """Figures of one flow, or of all flows together. Times are None where there are none.

    Attributes:
        bytes: IP bytes.
        handshake: from a SYN to its answer.
        echo: from data to the echo of their timestamp.
        acknowledgement: from data to the acknowledgement of their last byte.
        retransmissions: segments that were sent again.
        timeouts: retransmissions after silence.
        lost: drops that the capture itself records, in packets, by element and reason.
    """

    packets: int
    bytes: int
    handshake: FlowTimes | None
    echo: FlowTimes | None
    acknowledgement: FlowTimes | None
    retransmissions: int
    timeouts: int
    lost: dict[str, int]


class SilenceBeforeTimeout(SimulatorAnswer):
    """A retransmission after silence.

    Attributes:
        at_ns: when it passed, since 1970.
        sequence: its first sequence number.
        silence_ns: time since the flow last sent data.
    """

    at_ns: int
    sequence: int
    silence_ns: int


class CapturedFlow(FlowFigures):
    """One direction of a connection.

    Attributes:
        at: the node or interface; empty where the file has no name for it.
        source: address and port.
        destination: address and port.
        first_ns: when its first packet passed, since 1970.
        silences: one for each timeout.
    """

    at: str
    source: str
    destination: str
    first_ns: int
    silences: list[SilenceBeforeTimeout]


class Captured(SimulatorAnswer):
    """The TCP flows of a capture.

    Attributes:
        packets: that were read.
        duration_ns: from the first time stamp to the last.
        ended: why the rest of the file cannot be read; None where all of it was read.
        left_out: packets that were left out, by reason.
        flows: in the order in which they began, at each place.
        sum: figures of all flows together.
    """

    packets: int
    duration_ns: int
    ended: str | None
    left_out: dict[str, int]
    flows: list[CapturedFlow]
    sum: FlowFigures
