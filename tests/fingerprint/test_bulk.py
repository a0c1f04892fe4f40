"""From the summary of traffic to bulk transfer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.fingerprint.measure.bulk import read_bulk, read_iperf3
from crosswind.testbed import TestbedError

APPS = Path(__file__).parents[1] / "app"
CAPTURED = APPS / "traffic" / "captured"


def test_bulk_is_over_the_common_window_and_its_fastest_part_over_all_connections() -> None:
    summary = json.loads((CAPTURED / "incast-streams.json").read_text())
    found = read_bulk(summary)
    window = [8 * connection["messages"]["window_bytes"] for connection in summary["connections"]]
    assert found.each_bps == pytest.approx(window)  # Of one second.
    assert found.goodput_bps == pytest.approx(sum(window))
    # Connections are measured together, so that their fastest parts need not be at one time.
    each = [max(connection["messages"]["series"]) for connection in summary["connections"]]
    assert found.goodput_bps <= found.fastest_bps <= 80 * sum(each)
    # The series runs from the begin of the connections; a second of warm-up and what came after are left out.
    assert len(found.parts_bps) == 10
    assert sum(found.parts_bps) / 10 == pytest.approx(found.goodput_bps, rel=0.01)


def test_iperf3_says_what_arrived_of_each_connection_and_one_processor_time() -> None:
    said = (APPS / "iperf3" / "captured" / "tcp-four-streams.json").read_text()
    end = json.loads(said)["end"]
    found = read_iperf3(said)
    assert found.goodput_bps == end["sum_received"]["bits_per_second"]
    assert found.each_bps == [one["receiver"]["bits_per_second"] for one in end["streams"]]
    assert found.moved_bytes == end["sum_received"]["bytes"]
    assert found.sender_cpu_s == [
        end["cpu_utilization_percent"]["host_total"] / 100 * end["sum_received"]["seconds"]
    ]


def test_an_iperf3_that_was_refused_says_why() -> None:
    with pytest.raises(TestbedError, match="unable to connect"):
        read_iperf3((APPS / "iperf3" / "captured" / "refused.json").read_text())
