"""Find why operations were slow, from what happened to the packets of their connection meanwhile.

This covers all operations over 100 ms. For a trial with a shorter tail, it covers the slowest hundredth from
30 ms on. The load generator reports the addresses of each connection. They select the packet records between
the start and the end of an operation; then come the series of queues. The first of these that applies is the
cause:

1. the emulator stalled, and with it the host, for half of the operation; 2. a node was paused or down for
half of the operation; 3. its packets were dropped because they crossed a cut; 4. an end delayed its
acknowledgement, and the other waited for it, for half of the operation; 5. a retransmission after a drop of
the same bytes (or else of any packet of the connection): the cause has the
   place and reason of the drop, and whether the sender's timer expired;
6. a retransmission without a recorded drop: a packet was reordered, delayed beyond the timer, or its record
   was lost;
7. a drop of data without a recorded retransmission; 8. packets of nodes waited in a queue or a shaper for
most of the time: the cause has the fullest; 9. an open loop started it late: behind the operation before it
on its connection, or by the client's own delay; 10. others were cut off for half of the operation;
11. nothing in the network: the server took the time, or the client did not read.

In a trial with faults the operations that failed have causes, too; there a fault counts that touches them.

A coincidence need not be a cause. But there is little doubt where a stall of 200 ms ends with the
retransmission of a segment that a policer dropped 200 ms before.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from crosswind.analysis.faults import CUTS, PARTITIONED, Outage, bands
from crosswind.analysis.generator import free_since_ns
from crosswind.analysis.queueing import Queues, waited_at
from crosswind.results.measurement import HeldRow, Measurement, Series, Span
from crosswind.results.reading import Operations, PacketRow, Results
from crosswind.results.samples import SLOW_NS

# Of a trial with a shorter tail: below Linux's delayed acknowledgement of 40 ms, above most replies.
TAIL_NS = 30_000_000
TAIL_QUANTILE = 0.99
RTO_MIN_NS = 200_000_000  # of Linux, where an experiment does not declare it
BEHIND = "behind the operation before it on its connection"
CLIENT_STALL = "client stall: begun late although its connection was free"
HOST_HICCUP = "host hiccup: the host stalled for half of it or longer"
NO_EVENT = "nothing in the network: server or client"
UNMATCHED = "connection unknown: the load generator did not report its addresses"

_STATES = {"pause": "paused", "kill": "down", "disk": "on a bad disk", "squeeze": "squeezed"}

Row = TypeVar("Row", PacketRow, HeldRow)


@dataclass(frozen=True)
class SlowOperations:
    """The slow operations of one trial or of several together, by cause."""

    operations: int = 0  # all of them, slow or not
    slow: int = 0
    by_cause: Counter[str] = field(default_factory=Counter)
    lost_records: int = 0  # drops and retransmissions that the agent could not record; causes may be missing

    @property
    def share(self) -> float | None:
        """Share of operations that were slow, None without operations."""
        return self.slow / self.operations if self.operations else None

    def causes(self) -> list[tuple[str, int, float]]:
        """Return (cause, operations, share of the slow ones), most frequent first."""
        ranked = sorted(self.by_cause.items(), key=lambda item: (-item[1], item[0]))
        return [(cause, count, count / self.slow) for cause, count in ranked]

    @classmethod
    def together(cls, parts: Iterable["SlowOperations"]) -> "SlowOperations":
        """Return the sum of several trials: a description of operations, without an interval."""
        total = cls()
        for part in parts:
            total = cls(
                total.operations + part.operations,
                total.slow + part.slow,
                total.by_cause + part.by_cause,
                total.lost_records + part.lost_records,
            )
        return total


def slow_operations(
    folder: Results, trial: str, operations: Operations
) -> tuple[SlowOperations, SlowOperations]:
    """Return the operations of `trial` over SLOW_NS by cause, and those of a shorter tail.

    The time of an operation runs from its *intended* start, so the waiting time of an open loop counts too.
    """
    took_ns = operations.finished_ns - operations.intended_ns
    slow = took_ns > SLOW_NS
    # A hundredth is always few enough to examine.
    tail = ~slow & (took_ns >= max(TAIL_NS, np.quantile(took_ns, TAIL_QUANTILE) if took_ns.size else 0))
    count = operations.ok.size
    if not (slow | tail).any():
        return SlowOperations(count), SlowOperations(count)
    measured = folder.measurement(trial)
    lost = 0
    if measured is not None:
        tables = (measured.drops, measured.retransmissions, measured.held_acknowledgements)
        lost = sum(table.lost_records for table in tables)
    cause = _Causes(folder, trial, operations)
    return (
        SlowOperations(count, int(slow.sum()), Counter(map(cause.of, np.flatnonzero(slow).tolist())), lost),
        SlowOperations(count, int(tail.sum()), Counter(map(cause.of, np.flatnonzero(tail).tolist())), lost),
    )


def failed_operations(folder: Results, trial: str, operations: Operations) -> SlowOperations:
    """Return the operations of `trial` that failed, by cause; none where the trial had no faults."""
    measured, failed = folder.measurement(trial), np.flatnonzero(~operations.ok.astype(bool))
    if measured is None or not measured.faults or not failed.size:
        return SlowOperations(operations.ok.size)
    cause = _Causes(folder, trial, operations)
    by_cause = Counter(cause.of(index, fault_share=0.0) for index in failed.tolist())
    return SlowOperations(operations.ok.size, failed.size, by_cause, measured.drops.lost_records)


class _Causes:
    """The records of a trial that show why its operations were slow."""

    def __init__(self, folder: Results, trial: str, operations: Operations) -> None:
        measurement = folder.measurement(trial)
        self._operations = operations
        self._ends = connection_ends(measurement)
        self._drops = _by_connection(folder.drops(trial))
        self._retransmissions = _by_connection(folder.retransmissions(trial))
        self._held = _by_connection(folder.held_acknowledgements(trial))
        self._stalls = [] if measurement is None else measurement.host.stalls or []
        series = Series() if measurement is None else measurement.series
        self._queues = Queues(folder.queues(trial), series.step_ns)
        rto_min_us = folder.resolved.tcp.rto_min_us
        self._rto_min_ns = RTO_MIN_NS if rto_min_us is None else 1000 * rto_min_us
        self._free_ns = free_since_ns(operations)
        self._faults = [] if measurement is None else list(bands(measurement))
        self._begin_ns = 0 if measurement is None else measurement.window.started_ns

    def of(self, index: int, fault_share: float = 0.5) -> str:
        """Return why an operation was slow or failed, as far as the records show it.

        Args:
            fault_share: of the operation's time that a fault must have lasted to be its cause.
        """
        operations = self._operations
        begin, end = int(operations.intended_ns[index]), int(operations.finished_ns[index])
        if 2 * stalled_ns(self._stalls, begin, end) >= end - begin:
            return HOST_HICCUP
        span = (begin - self._begin_ns, end - self._begin_ns, fault_share)
        if (hit := node_cause(self._faults, *span)) is not None:
            return hit
        pairs = self._ends.get(int(operations.connection[index]))
        if pairs is None:
            return cut_cause(self._faults, *span) or UNMATCHED
        lost = _meanwhile(self._drops, pairs, begin, end)
        return (
            own_cut_cause(self._faults, lost, self._begin_ns)
            or held_cause(_meanwhile(self._held, pairs, begin, end), self._stalls, end - begin)
            or packet_cause(
                _meanwhile(self._retransmissions, pairs, begin, end),
                lost,
                self._rto_min_ns,
            )
            or _queue_cause(self._queues, begin, end)
            or late_cause(begin, int(operations.started_ns[index]), end, int(self._free_ns[index]))
            or cut_cause(self._faults, *span)
            or NO_EVENT
        )


def stalled_ns(stalls: Iterable[Span], begin_ns: int, end_ns: int) -> int:
    """Return how long the emulator stalled in that time."""
    parts = (min(s.at_ns + s.length_ns, end_ns) - max(s.at_ns, begin_ns) for s in stalls)
    return sum(part for part in parts if part > 0)


def node_cause(faults: Sequence[Outage], begin_ns: int, end_ns: int, share: float) -> str | None:
    """Return which node was hit, and how, during an operation, for that share of it or longer."""
    hit = [each for each in faults if each.kind in _STATES and _during(each, begin_ns, end_ns, share)]
    # A dead node explains more than a slow one.
    hit.sort(key=lambda each: list(_STATES).index(each.kind))
    return f"{' '.join(hit[0].nodes)} was {_STATES[hit[0].kind]}" if hit else None


def own_cut_cause(faults: Sequence[Outage], drops: Sequence[PacketRow], began_ns: int) -> str | None:
    """Return by which cut packets of the operation's own connection were dropped."""
    lost = [drop.at_ns - began_ns for drop in drops if drop.reason == PARTITIONED]
    if not lost:
        return None
    cut = [each for each in faults if each.kind in CUTS and _during(each, lost[0], lost[0], 0.0)]
    return f"its packets were cut ({cut[-1].words})" if cut else "its packets were cut"


def cut_cause(faults: Sequence[Outage], begin_ns: int, end_ns: int, share: float) -> str | None:
    """Return which cut lasted during an operation, though none of its own packets was dropped there."""
    cut = [each for each in faults if each.kind in CUTS and _during(each, begin_ns, end_ns, share)]
    return f"none of its packets was cut, but others were ({cut[-1].words})" if cut else None


def _during(fault: Outage, begin_ns: int, end_ns: int, share: float) -> bool:
    """Return whether a fault lasted for that share of a time or longer, and touched it at all."""
    until_ns = end_ns if fault.end_ns is None else min(fault.end_ns, end_ns)
    common_ns = until_ns - max(fault.begin_ns, begin_ns)
    return common_ns >= 0 and common_ns >= share * (end_ns - begin_ns)


def held_cause(held: Sequence[HeldRow], stalls: Sequence[Span], length_ns: int) -> str | None:
    """Return whose acknowledgements kept an operation waiting, if that was half of its time or more.

    While the emulator stalls, an acknowledgement waits for it and looks as if its node held it back.
    """
    waits_ns = [row.held_ns - stalled_ns(stalls, row.at_ns - row.held_ns, row.at_ns) for row in held]
    if not held or 2 * sum(waits_ns) < length_ns:
        return None
    return f"delayed acknowledgement by {held[waits_ns.index(max(waits_ns))].node}"


def packet_cause(
    retransmissions: list[PacketRow], drops: list[PacketRow], rto_min_ns: int = RTO_MIN_NS
) -> str | None:
    """Return the finding for one operation from the packet events of its connection during it, if any."""
    if not retransmissions:
        # The next acknowledgement makes up for a lost one.
        lost = [drop for drop in drops if drop.payload_bytes]
        return f"drop at {lost[0].element} ({lost[0].reason}), no retransmission recorded" if lost else None
    # The longest wait for a retransmission made the operation slow.
    longest = max(retransmissions, key=lambda row: row.since_first_ns or 0)
    again = "retransmission timeout" if (longest.since_first_ns or 0) >= rto_min_ns else "retransmission"
    before = [drop for drop in drops if drop.at_ns <= longest.at_ns]
    same = [drop for drop in before if _same_bytes(drop, longest)]
    found = same or before
    if not found:
        return f"{again} without a recorded drop"
    return f"{again} after a drop at {found[0].element} ({found[0].reason})"


def late_cause(intended_ns: int, started_ns: int, finished_ns: int, free_ns: int) -> str | None:
    """Return why an open loop started an operation late, if that was half of its time or more."""
    if 2 * (started_ns - intended_ns) < finished_ns - intended_ns:
        return None
    busy_ns = max(0, free_ns - intended_ns)
    return BEHIND if 2 * busy_ns >= started_ns - intended_ns else CLIENT_STALL


def _queue_cause(queues: Queues, begin_ns: int, end_ns: int) -> str | None:
    element = queues.longest(begin_ns, end_ns)
    return None if element is None else waited_at(element)


def connection_ends(measurement: Measurement | None) -> dict[int, set[frozenset[str]]]:
    """Return connection -> its pairs of addresses, several if it reconnected."""
    ends: dict[int, set[frozenset[str]]] = {}
    for row in [] if measurement is None else measurement.load.connections:
        ends.setdefault(row.connection, set()).add(frozenset((row.local, row.remote)))
    return ends


def _by_connection(rows: list[Row]) -> dict[frozenset[str], list[Row]]:
    """Return the rows by the unordered pair of their addresses, in their order."""
    grouped: dict[frozenset[str], list[Row]] = {}
    for row in rows:
        grouped.setdefault(frozenset((row.src, row.dst)), []).append(row)
    return grouped


def _meanwhile(
    rows: Mapping[frozenset[str], list[Row]], pairs: Iterable[frozenset[str]], begin: int, end: int
) -> list[Row]:
    """Return the rows of connections between two instants."""
    found: list[Row] = []
    for pair in pairs:
        mine = rows.get(pair, [])
        first = bisect_left(mine, begin, key=lambda row: row.at_ns)
        found += mine[first : bisect_right(mine, end, key=lambda row: row.at_ns)]
    return found


def _same_bytes(drop: PacketRow, again: PacketRow) -> bool:
    """Return whether the two share a byte of the same direction; sequence numbers wrap at 2^32."""
    if drop.src != again.src or drop.tcp_seq is None or again.tcp_seq is None:
        return False
    ahead = (again.tcp_seq - drop.tcp_seq) % 2**32
    behind = (drop.tcp_seq - again.tcp_seq) % 2**32
    return ahead < max(drop.payload_bytes, 1) or behind < max(again.payload_bytes, 1)
