"""Combine what both ends of connections report into points: what all of them did between two instants.

The ends report totals at common instants (docs/reference/contracts.md, section 4). A point is complete when
all ends have reported; it is the difference to the point before it. All instants are of CLOCK_MONOTONIC,
which cannot be set. Where somebody sets the wall clock, the point records it, and its figures stay correct.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from crosswind.fingerprint.measure.end_facts import counted_since

_Number = TypeVar("_Number", int, float)

# Width of the kernel's counter of retransmissions.
COUNTER_BITS = 32
# The wall clock may be slewed by 0.05 %, which is 5 ms in a point of 10 s. A larger difference
# means that it was set.
CLOCK_SET_S = 0.1
Side = Literal["sender", "receiver"]
SIDES: tuple[Side, Side] = ("sender", "receiver")


class ConnectionLost(Exception):
    """A connection ended before its phase did; the text gives the connection and the reason."""


@dataclass(frozen=True)
class ClockReadings:
    """Readings of this machine at one instant, in s.

    Attributes:
        wall_s: CLOCK_REALTIME, which may be set.
        monotonic_s: CLOCK_MONOTONIC.
        steal_s: CPU time taken by the hypervisor since boot, summed over cores.
    """

    wall_s: float
    monotonic_s: float
    steal_s: float


class RegimePart(BaseModel):
    """A part of a regime's file; unknown keys are refused, since the file is continued with the same keys."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", validate_by_alias=True, validate_by_name=True
    )


class RegimePoint(RegimePart):
    """What all connections of a phase did between two instants.

    Attributes:
        begin_ns, end_ns: CLOCK_MONOTONIC; in a file, since the start of the first sitting.
        payload_bytes: that arrived.
        retransmits: segments; None where the kernel does not report them.
        rtt_us: the smoothed round-trip time at the end, mean over connections; None likewise.
        sender_cpu_s, receiver_cpu_s: CPU time of the threads at each end.
        steal_s: CPU time taken by the hypervisor since the point before was read; at least 0.
        clock_set_s: by how much the wall clock was set in this time; 0 where it was not.
    """

    begin_ns: int
    end_ns: int
    payload_bytes: int
    retransmits: int | None
    rtt_us: float | None
    sender_cpu_s: float
    receiver_cpu_s: float
    steal_s: float
    clock_set_s: float


class ConnectionTotals(BaseModel):
    """A line of one end of a connection: its totals since the connection began.

    Attributes:
        payload_bytes: that arrived; None at the sender.
        retransmits, rtt_us: None at the receiver, and where the kernel does not report them.
        lost: why the connection ended; None while it lasts.
    """

    model_config = ConfigDict(frozen=True)

    connection: int
    end: Side
    until_ns: int
    payload_bytes: int | None = Field(alias="bytes")
    retransmits: int | None
    rtt_us: float | None
    cpu_ns: int
    lost: str | None


_Reports = dict[tuple[int, Side], ConnectionTotals]


class PhasePoints:
    """The points of one phase.

    Args:
        begins_ns: when all connections begin.
        connections: how many there are.
        clocks: before they begin.
    """

    def __init__(self, begins_ns: int, connections: int, clocks: ClockReadings) -> None:
        self._begin_ns = begins_ns
        self._connections = range(connections)
        self._before: _Reports = {}
        self._reports: dict[int, _Reports] = {}
        self._clocks = clocks

    def hear(self, line: str, clocks: ClockReadings) -> Iterator[RegimePoint]:
        """Take a line of one end, and yield the points that it completes.

        Args:
            clocks: at this instant.
        Raises: ConnectionLost: the end reports that its connection is lost; points yielded before are valid.
        """
        totals = ConnectionTotals.model_validate_json(line)
        if totals.until_ns <= self._begin_ns:
            return  # It belongs to the phase before this one.
        if totals.lost is not None:
            raise ConnectionLost(f"connection {totals.connection} at its {totals.end}: {totals.lost}")
        self._reports.setdefault(totals.until_ns, {})[totals.connection, totals.end] = totals
        complete = len(self._connections) * len(SIDES)
        while self._reports and len(self._reports[until_ns := min(self._reports)]) == complete:
            yield self._point(until_ns, self._reports.pop(until_ns), clocks)

    def _point(self, until_ns: int, now: _Reports, clocks: ClockReadings) -> RegimePoint:
        senders, receivers = ([now[number, side] for number in self._connections] for side in SIDES)
        retransmits = [self._retransmits(sender) for sender in senders]
        rtts_us = [sender.rtt_us for sender in senders]
        wall_s, monotonic_s = (
            getattr(clocks, name) - getattr(self._clocks, name) for name in ("wall_s", "monotonic_s")
        )
        known, rtts_known_us = _all_known(retransmits), _all_known(rtts_us)
        point = RegimePoint(
            begin_ns=self._begin_ns,
            end_ns=until_ns,
            payload_bytes=sum(self._payload_bytes(receiver) for receiver in receivers),
            retransmits=None if known is None else sum(known),
            rtt_us=None if rtts_known_us is None else sum(rtts_known_us) / len(rtts_known_us),
            sender_cpu_s=sum(map(self._cpu_ns, senders)) / 1e9,
            receiver_cpu_s=sum(map(self._cpu_ns, receivers)) / 1e9,
            # Some kernels count steal backwards after a migration.
            steal_s=max(0.0, clocks.steal_s - self._clocks.steal_s),
            clock_set_s=wall_s - monotonic_s if abs(wall_s - monotonic_s) > CLOCK_SET_S else 0.0,
        )
        self._begin_ns, self._before, self._clocks = until_ns, now, clocks
        return point

    def _earlier(self, now: ConnectionTotals) -> ConnectionTotals | None:
        return self._before.get((now.connection, now.end))

    def _payload_bytes(self, now: ConnectionTotals) -> int:
        earlier = self._earlier(now)
        return (now.payload_bytes or 0) - ((earlier.payload_bytes or 0) if earlier else 0)

    def _cpu_ns(self, now: ConnectionTotals) -> int:
        earlier = self._earlier(now)
        return now.cpu_ns - (earlier.cpu_ns if earlier else 0)

    def _retransmits(self, now: ConnectionTotals) -> int | None:
        earlier = self._earlier(now)
        if now.retransmits is None:
            return None
        return counted_since((earlier.retransmits or 0) if earlier else 0, now.retransmits, COUNTER_BITS)


def _all_known(values: Sequence[_Number | None]) -> list[_Number] | None:
    """Return the values; None where one of them is unknown."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None
