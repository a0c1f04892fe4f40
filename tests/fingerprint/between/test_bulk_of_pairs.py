"""A transfer between two machines, from what their agents counted."""

from __future__ import annotations

import pytest

from crosswind.fingerprint.between.answers import BulkReceived, BulkSent, ConnectionReceived, ConnectionSent
from crosswind.fingerprint.between.meeting import bulk_of
from crosswind.testbed import TestbedError


def received(*series: list[int]) -> BulkReceived:
    return BulkReceived(
        connections=[
            ConnectionReceived(series=one, total_bytes=sum(one) + 7, cpu_ns=10_000_000) for one in series
        ]
    )


SENT = BulkSent(
    connections=[ConnectionSent(retransmits=3, rtt_us=500, mss_bytes=1448, cpu_ns=20_000_000)] * 2
)


def test_rates_are_of_the_window_behind_the_warm_up() -> None:
    # Two tenths of a second to warm up, and three that count.
    found = bulk_of(received([9, 9, 1000, 1000, 1000], [9, 9, 3000, 3000, 3000]), SENT, 0.2, 0.3)
    assert found.each_bps == pytest.approx([80_000, 240_000])
    assert found.goodput_bps == pytest.approx(320_000)
    assert found.parts_bps == pytest.approx([320_000] * 3)
    # (1 + 3)^2 / (2 (1 + 9)).
    assert found.jain == pytest.approx(0.8)
    assert (found.retransmits, found.moved_bytes) == (6, 3018 + 7 + 9018 + 7)
    assert found.part().sender_cpu_s_per_gb == pytest.approx(0.04 / (320_000 * 0.3 / 8e9))


def test_a_window_in_which_nothing_arrives_is_an_error() -> None:
    with pytest.raises(TestbedError, match="not one byte arrived"):
        bulk_of(received([9, 9, 0, 0], [9, 9, 0, 0]), SENT, 0.2, 0.2)


def test_machines_that_counted_something_else_are_an_error() -> None:
    for series in ([[1] * 4], [[1] * 4, [1] * 5]):
        with pytest.raises(TestbedError, match="counted something else"):
            bulk_of(received(*series), SENT, 0.2, 0.2)
