"""Monitors measure what is known to pass: probes at a known rate, and TCP over a known delay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crosswind.probe.pairs import Task, over_fabric
from crosswind.results import Measurement
from crosswind.results.measurement import Histogram
from crosswind.testbed import find_binary
from crosswind.testbed.plain import plain_fabric

PROBES = 500


def monitor(*what: str, **match: Any) -> dict[str, Any]:
    parameters = {"what": what, "window_ns": 10_000_000, "burst_gap_ns": 100, "start": {"after_ns": 0}}
    return {"monitor": {**parameters, "match": match}}


def probes() -> Task:
    """1,000 UDP packets a second of 100 bytes of payload, 128 with UDP and IP header."""
    load, there = str(find_binary("crosswind-load")), "10.77.0.2:5002"
    send = ["--to", there, "--rate", "1000", "--count", str(PROBES), "--payload-bytes", "100"]
    receive = ["--listen", there, "--count", str(PROBES)]
    return Task(
        receive=lambda folder: [load, "probe-receive", *receive, "--out", str(folder / "probe.csv")],
        send=lambda folder: [load, "probe-send", *send],
    )


def of(measurement: Measurement, element: str, what: str) -> Histogram:
    (found,) = [one for one in measurement.monitors if one.element == element]
    (histogram,) = [one for one in found.histograms if one.what == what]
    return histogram


def test_probes_a_millisecond_apart_have_gaps_of_a_millisecond() -> None:
    what = ("packet-size", "interarrival", "burst", "packet-rate", "utilisation", "queue-delay")
    udp = monitor(*what, protocol=17, destination_port=5002)
    fabric = plain_fabric(rate_bps=1_000_000_000, places={"link": [udp]})
    _, measurement = over_fabric(probes(), lambda _: None, fabric)
    up = "h0/link.up/0:monitor"
    assert of(measurement, up, "packet-size").count == PROBES
    assert of(measurement, up, "packet-size").sum == 128 * PROBES
    gaps = of(measurement, up, "interarrival")
    assert gaps.count == PROBES - 1
    # The sender keeps to its plan however late it is, so only the ends of a busy run move the mean.
    assert gaps.sum is not None
    assert abs(gaps.sum / gaps.count - 1e6) < 0.1e6
    assert of(measurement, up, "burst-packets").sum == PROBES
    # 128 + 38 bytes of wire are 1,328 ns of 1 Gbit/s, a thousand times a second: 1.3 per mille, rounded down.
    assert of(measurement, up, "utilisation").sum <= 1.4 * of(measurement, up, "utilisation").count
    assert of(measurement, up, "queue-delay").count == PROBES
    assert of(measurement, "h1/link.up/0:monitor", "packet-size").count == 0


def test_a_round_trip_is_at_least_the_delay_of_its_way() -> None:
    # From in front of n0's uplink it is two links of 2 ms to n1, and one back to in front of n0's downlink.
    fabric = plain_fabric(
        rate_bps=100_000_000,
        delay_ns=2_000_000,
        places={"link": [monitor("rtt", "flow-size", "retransmissions", "tcp-window", "reordering")]},
    )
    script = str(Path(__file__).parents[2] / "bench" / "transfer.py")
    task = Task(
        receive=lambda folder: ["/usr/bin/python3", script, "receive", "10.77.0.2", str(folder / "goodput")],
        send=lambda folder: ["/usr/bin/python3", script, "send", "10.77.0.2", "1"],
    )
    _, measurement = over_fabric(task, lambda _: None, fabric)
    up = "h0/link.up/0:monitor"
    handshake = of(measurement, up, "rtt-handshake")
    assert handshake.count == 1
    assert 6_000_000 <= handshake.min < 60_000_000
    echoes = of(measurement, up, "rtt-timestamps")
    assert echoes.count > 10
    assert echoes.min >= 6_000_000
    assert of(measurement, up, "flow-bytes").max > 1_000_000
    assert of(measurement, up, "tcp-window").max > 60_000
    (found,) = [one for one in measurement.monitors if one.element == up]
    assert found.counts["reordering"]["reordered"] == 0
