"""From what both ends of connections say of themselves to points: what all of them did between two instants.

Ends say totals at instants that they have in common (docs/reference/contracts.md, section 4), so a point is
whole when all have spoken, and is the difference to the point before it. All instants are of CLOCK_MONOTONIC,
which nobody sets; when somebody sets the wall clock, the point says so and its figures are as good as any.
Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crosswind.fingerprint.measure.end_facts import counted_since

# The kernel counts retransmissions in so many bits.
COUNTER_BITS = 32
# The wall clock may be slewed by 0.05 %, which is 5 ms in a point of 10 s; what differs by more was set.
CLOCK_SET_S = 0.1
SENDER, RECEIVER = "sender", "receiver"


class ConnectionLost(Exception):
    """A connection ended before its phase did; the text says which, and why."""


@dataclass(frozen=True)
class Clocks:
    """Readings of this machine at one instant, in s.

    Attributes:
        wall_s: CLOCK_REALTIME, which may be set.
        monotonic_s: CLOCK_MONOTONIC.
        steal_s: taken by other machines since boot, summed over cores.
    """

    wall_s: float
    monotonic_s: float
    steal_s: float


@dataclass(frozen=True)
class Point:
    """What all connections of a phase did between two instants.

    Attributes:
        begin_ns, end_ns: CLOCK_MONOTONIC.
        payload_bytes: arrived.
        retransmits: segments sent again; None where the kernel did not say.
        rtt_us: the smoothed round-trip time at the end, mean of all connections; None likewise.
        sender_cpu_s, receiver_cpu_s: processor time of the two ends' threads.
        steal_s: processor time taken by other machines, since the point before was read; at least 0.
        clock_set_s: by how much the wall clock was set meanwhile; 0 where it was not.
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


class Points:
    """The points of one phase.

    Args:
        begins_ns: when all connections begin.
        connections: how many there are.
        clocks: as they were before.
    """

    def __init__(self, begins_ns: int, connections: int, clocks: Clocks) -> None:
        self._begin_ns = begins_ns
        self._ends = [(number, end) for number in range(connections) for end in (SENDER, RECEIVER)]
        self._before: dict[tuple[int, str], dict[str, Any]] = {}
        self._said: dict[int, dict[tuple[int, str], dict[str, Any]]] = {}
        self._clocks = clocks

    def hear(self, line: str, clocks: Clocks) -> Iterator[Point]:
        """Take what one end says, and yield the points that are whole by it.

        Args:
            clocks: as they are now.
        Raises: ConnectionLost: it says that it is lost; what was yielded before it is sound.
        """
        said = json.loads(line)
        if said["until_ns"] <= self._begin_ns:
            return  # Of a phase before this one.
        if said["lost"] is not None:
            raise ConnectionLost(f"connection {said['connection']} at its {said['end']}: {said['lost']}")
        of_instant = self._said.setdefault(said["until_ns"], {})
        of_instant[said["connection"], said["end"]] = said
        while self._said and len(self._said[until_ns := min(self._said)]) == len(self._ends):
            yield self._point(until_ns, self._said.pop(until_ns), clocks)

    def _point(self, until_ns: int, now: dict[tuple[int, str], dict[str, Any]], clocks: Clocks) -> Point:
        def gained(end: str, key: str) -> int:
            pairs = [(self._before.get(one, {}).get(key, 0), now[one][key]) for one in self._ends_at(end)]
            return sum(after - before for before, after in pairs)

        retransmits = None
        if all(now[one]["retransmits"] is not None for one in self._ends_at(SENDER)):
            retransmits = sum(
                counted_since(
                    self._before.get(one, {}).get("retransmits", 0), now[one]["retransmits"], COUNTER_BITS
                )
                for one in self._ends_at(SENDER)
            )
        rtts_us = [now[one]["rtt_us"] for one in self._ends_at(SENDER)]
        wall_s, monotonic_s = (
            getattr(clocks, name) - getattr(self._clocks, name) for name in ("wall_s", "monotonic_s")
        )
        point = Point(
            begin_ns=self._begin_ns,
            end_ns=until_ns,
            payload_bytes=gained(RECEIVER, "bytes"),
            retransmits=retransmits,
            rtt_us=sum(rtts_us) / len(rtts_us) if None not in rtts_us else None,
            sender_cpu_s=gained(SENDER, "cpu_ns") / 1e9,
            receiver_cpu_s=gained(RECEIVER, "cpu_ns") / 1e9,
            # The kernel has been seen to count steal backwards after a migration.
            steal_s=max(0.0, clocks.steal_s - self._clocks.steal_s),
            clock_set_s=wall_s - monotonic_s if abs(wall_s - monotonic_s) > CLOCK_SET_S else 0.0,
        )
        self._begin_ns, self._before, self._clocks = until_ns, now, clocks
        return point

    def _ends_at(self, end: str) -> list[tuple[int, str]]:
        return [one for one in self._ends if one[1] == end]
