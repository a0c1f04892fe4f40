"""From what `crosswind-load traffic` wrote to metrics: real summaries of four nodes, and arithmetic by
hand."""

import json
from pathlib import Path

import pytest

from crosswind.app.traffic.summary import DirectionPayload, TrafficConnection, TrafficSummary, metrics_of
from crosswind.testbed.errors import TestbedError

CAPTURED = Path(__file__).parent / "captured"
S = 1_000_000_000


def captured(name: str) -> TrafficSummary:
    return TrafficSummary.model_validate_json((CAPTURED / f"{name}.json").read_bytes())


def values(summary: TrafficSummary) -> dict[tuple[str | None, str], float]:
    return {(metric.node, metric.metric): metric.value for metric in metrics_of(summary)}


def connection(number: int, window_bytes: int, finished_ns: int | None = None) -> TrafficConnection:
    return TrafficConnection(
        connection=number,
        sender="a",
        receiver="b",
        messages=DirectionPayload(total_bytes=window_bytes, window_bytes=window_bytes, part_ns=S, series=[]),
        answers=None,
        finished_ns=finished_ns,
        sender_cpu_ns=0,
        receiver_cpu_ns=0,
        retransmits=0,
        rtt_us=100,
    )


def summary(*connections: TrafficConnection, ended_ns: int | None) -> TrafficSummary:
    return TrafficSummary(
        parameters={}, connections=list(connections), started_ns=10 * S, ended_ns=ended_ns, not_started=0
    )


def test_what_is_stored_is_what_the_load_generator_wrote() -> None:
    for name in ("incast-streams", "shuffle", "ring-ping-pong"):
        assert captured(name).as_json() == json.loads((CAPTURED / f"{name}.json").read_text())


def test_streams_are_added_up_over_the_window_that_they_share() -> None:
    found = values(captured("incast-streams"))
    # Three senders behind buckets of 20 Mbit/s: less than 3 x 20 x 1448/1500.
    assert found[None, "goodput"] == pytest.approx(sum(found[None, f"goodput.{n}"] for n in range(3)))
    assert 40e6 < found[None, "goodput"] < 57.9e6
    assert found["a", "received"] == sum(found[node, "sent"] for node in ("b", "c", "d"))
    assert found["a", "received"] == found[None, "goodput"] / 8
    assert 0.99 < found[None, "fairness"] <= 1
    assert found[None, "retransmits"] == 28


def test_a_shuffle_lasts_until_its_slowest_connection() -> None:
    found = values(captured("shuffle"))
    own = [found[sender, f"completion.{n}"] for n, sender in enumerate("aaaaaabbbbbbccccccdddddd")]
    assert found[None, "completion"] == max(own)
    # Every connection's rate is to its own end, so their sum is more than the rate of all to the last end.
    assert found[None, "goodput"] < sum(found[None, f"goodput.{n}"] for n in range(24))


def test_a_ping_pong_moves_as_much_back_as_forth() -> None:
    found = values(captured("ring-ping-pong"))
    for node in "abcd":
        assert found[node, "sent"] == pytest.approx(found[node, "received"], rel=0.01)
    assert found[None, "goodput"] == 8 * sum(found[node, "received"] for node in "abcd")


def test_the_window_is_two_seconds_and_rates_follow_from_it() -> None:
    found = values(summary(connection(0, 1000), connection(1, 3000), ended_ns=12 * S))
    assert (found[None, "goodput.0"], found[None, "goodput.1"]) == (4000, 12000)
    assert found[None, "goodput"] == 16000
    assert found[None, "fairness"] == pytest.approx(0.8)


def test_with_a_count_completion_is_of_the_last_and_rates_are_to_each_end() -> None:
    found = values(
        summary(
            connection(0, 1000, finished_ns=11 * S), connection(1, 1000, finished_ns=14 * S), ended_ns=None
        )
    )
    assert found[None, "completion"] == 4 * S
    assert found["a", "completion.0"] == S
    assert (found[None, "goodput.0"], found[None, "goodput.1"]) == (8000, 2000)
    # 2000 bytes in the 4 s of both.
    assert found[None, "goodput"] == 4000


def test_a_starved_connection_counts_as_zero_and_an_empty_run_is_no_result() -> None:
    found = values(summary(connection(0, 0), connection(1, 3000), ended_ns=12 * S))
    assert found[None, "goodput.0"] == 0
    assert found[None, "fairness"] == 0.5
    with pytest.raises(TestbedError, match="not one byte arrived"):
        metrics_of(summary(connection(0, 0), ended_ns=12 * S))
