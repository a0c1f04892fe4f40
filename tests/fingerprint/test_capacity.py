"""Repetitions are judged one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crosswind.app.traffic.summary import TrafficSummary
from crosswind.fingerprint.measure.bulk import read_bulk
from crosswind.fingerprint.measure.capacity import Capacity

CAPTURED = Path(__file__).parents[1] / "app" / "traffic" / "captured"
BULK = read_bulk(TrafficSummary.model_validate_json((CAPTURED / "incast-streams.json").read_bytes()))


def test_unfairness_that_changes_sides_stays_unfair() -> None:
    # Averages of [1, 3] and [3, 1] are even, and Jain's index of each is 16 / (2 * 10).
    runs = [replace(BULK, each_bps=each, jain=0.8) for each in ([1.0, 3.0], [3.0, 1.0])]
    found = Capacity(2, runs).part()
    assert found.jain.as_json() == {"median": 0.8, "least": 0.8, "most": 0.8}
    assert [one.each_bps for one in found.repetitions] == [[1.0, 3.0], [3.0, 1.0]]


def test_cpu_time_is_per_gigabyte_that_arrived_while_it_was_spent() -> None:
    one = replace(BULK, goodput_bps=8e9, window_s=2.0, sender_cpu_s=[0.5, 0.5], receiver_cpu_s=[1.5, 1.5])
    recorded = one.part()
    assert recorded.sender_cpu_s_per_gb == 0.5
    assert recorded.receiver_cpu_s_per_gb == 1.5
