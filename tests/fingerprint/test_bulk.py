"""From the summary of traffic to bulk transfer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.app.traffic.summary import TrafficSummary
from crosswind.fingerprint.measure.bulk import read_bulk, read_iperf3, read_nuttcp
from crosswind.testbed import TestbedError

APPS = Path(__file__).parents[1] / "app"
CAPTURED = APPS / "traffic" / "captured"


def test_bulk_is_over_the_common_window_and_its_fastest_part_over_all_connections() -> None:
    summary = TrafficSummary.model_validate_json((CAPTURED / "incast-streams.json").read_bytes())
    found = read_bulk(summary)
    window = [8 * connection.messages.window_bytes for connection in summary.connections]
    assert found.each_bps == pytest.approx(window)  # Of one second.
    assert found.goodput_bps == pytest.approx(sum(window))
    # Connections are measured together, so that their fastest parts need not be at one time.
    each = [max(connection.messages.series) for connection in summary.connections]
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


# As four clients printed it at 100 Mbit/s, 1 ms each way, for a second: `bulk` with nuttcp 6.1.2, 2026-11-22.
NUTTCP = (Path(__file__).parent / "captured" / "nuttcp-four-streams.txt").read_text()


def test_nuttcps_connections_are_counted_in_the_window_that_all_have() -> None:
    found = read_nuttcp(NUTTCP, 4, 1)
    assert found.goodput_bps == pytest.approx(sum(found.each_bps))
    assert found.goodput_bps == pytest.approx(sum(found.parts_bps) / len(found.parts_bps))
    # The payload of 100 Mbit/s is 1448 bytes of 1538; each connection counts writes of 64 KiB.
    count_bps = 4 * 8 * 65536 / found.window_s
    assert found.goodput_bps == pytest.approx(94.15e6, abs=count_bps)
    assert found.window_s <= 0.8
    assert found.retransmits is None
    assert (found.part().receiver_cpu_s_per_gb or 0) >= 0


def test_a_nuttcp_without_a_result_or_a_time_in_common_is_named() -> None:
    with pytest.raises(TestbedError, match="stream 4: nuttcp: printed no result"):
        read_nuttcp(NUTTCP, 5, 1)
    began_late = NUTTCP.rstrip().rpartition("\n")
    late = f"{began_late[0]}\n{float(began_late[2]) + 1:.9f}\n"
    with pytest.raises(TestbedError, match="have no time in common"):
        read_nuttcp(late, 4, 1)
