"""From what the two ends of connections say to points; wrapped counters and clocks that jump."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crosswind.fingerprint.regime.points import ClockReadings, ConnectionLost, PhasePoints, RegimePoint

CALM = ClockReadings(wall_s=1000.0, monotonic_s=50.0, steal_s=3.0)


def said(connection: int, end: str, until_ns: int, **totals: Any) -> str:
    """A line as `crosswind-load traffic-serve` prints it."""
    line = {"connection": connection, "end": end, "until_ns": until_ns, "bytes": None, "retransmits": None}
    return json.dumps({**line, "rtt_us": None, "cpu_ns": 0, "lost": None, **totals})


def both(
    points: PhasePoints, until_ns: int, received: int, retransmits: int, clocks: ClockReadings = CALM
) -> list[RegimePoint]:
    """What both ends of one connection say of an instant."""
    lines = [
        said(0, "receiver", until_ns, bytes=received, cpu_ns=2 * until_ns),
        said(0, "sender", until_ns, retransmits=retransmits, rtt_us=400, cpu_ns=until_ns),
    ]
    return [point for line in lines for point in points.hear(line, clocks)]


def test_a_point_is_the_difference_between_two_instants_of_all_ends() -> None:
    points = PhasePoints(1000, 2, CALM)
    lines = [
        said(0, "receiver", 2000, bytes=10, cpu_ns=5),
        said(0, "receiver", 3000, bytes=40, cpu_ns=15),  # This end is ahead of the other ones.
        said(1, "receiver", 2000, bytes=1, cpu_ns=1),
        said(0, "sender", 2000, retransmits=0, rtt_us=100, cpu_ns=1),
        said(1, "sender", 2000, retransmits=2, rtt_us=300, cpu_ns=2),
        said(1, "receiver", 3000, bytes=2, cpu_ns=2),
        said(0, "sender", 3000, retransmits=1, rtt_us=100, cpu_ns=2),
        said(1, "sender", 3000, retransmits=2, rtt_us=300, cpu_ns=4),
    ]
    first, second = (point for line in lines for point in points.hear(line, CALM))
    assert (first.begin_ns, first.end_ns, second.begin_ns, second.end_ns) == (1000, 2000, 2000, 3000)
    assert (first.payload_bytes, second.payload_bytes) == (11, 31)
    assert (first.retransmits, second.retransmits) == (2, 1)
    assert first.rtt_us == 200
    assert (second.sender_cpu_s, second.receiver_cpu_s) == (3e-9, 11e-9)


def test_what_a_phase_before_it_said_is_passed_over() -> None:
    points = PhasePoints(1000, 1, CALM)
    assert both(points, 1000, received=9, retransmits=9) == []
    assert len(both(points, 2000, received=1, retransmits=0)) == 1


def test_a_counter_that_wraps_goes_on() -> None:
    points = PhasePoints(0, 1, CALM)
    both(points, 1000, received=1, retransmits=2**32 - 3)
    (point,) = both(points, 2000, received=1, retransmits=4)
    assert point.retransmits == 7


def test_a_kernel_that_does_not_count_gives_no_number() -> None:
    points = PhasePoints(0, 1, CALM)
    list(points.hear(said(0, "receiver", 1000, bytes=5), CALM))
    (point,) = points.hear(said(0, "sender", 1000), CALM)
    assert (point.retransmits, point.rtt_us) == (None, None)


@pytest.mark.parametrize("set_by_s", [3600.0, -3600.0])
def test_a_clock_that_is_set_changes_no_figure_and_is_told(set_by_s: float) -> None:
    points = PhasePoints(0, 1, CALM)
    after = ClockReadings(wall_s=1001.0 + set_by_s, monotonic_s=51.0, steal_s=3.5)
    (jumped,) = both(points, 1_000_000_000, received=10, retransmits=0, clocks=after)
    assert jumped.clock_set_s == pytest.approx(set_by_s)
    assert (jumped.begin_ns, jumped.end_ns, jumped.payload_bytes) == (0, 1_000_000_000, 10)
    assert jumped.steal_s == 0.5
    calm = ClockReadings(wall_s=1002.004 + set_by_s, monotonic_s=52.0, steal_s=3.4)
    (next_one,) = both(points, 2_000_000_000, received=20, retransmits=0, clocks=calm)
    # Slewing is no jump, and steal that goes backwards is none.
    assert (next_one.clock_set_s, next_one.steal_s) == (0.0, 0.0)


def test_a_far_end_that_vanishes_is_named_after_its_last_point() -> None:
    points = PhasePoints(0, 1, CALM)
    assert len(both(points, 1000, received=1, retransmits=0)) == 1
    lost = said(0, "sender", 1500, retransmits=0, lost="the receiver is gone: connection reset")
    with pytest.raises(ConnectionLost, match="connection 0 at its sender: the receiver is gone"):
        list(points.hear(lost, CALM))
