"""From what `crosswind-load rpc` writes to round-trip times."""

from __future__ import annotations

from pathlib import Path

import pytest

from crosswind.fingerprint.measure.messages import Messages, read_messages
from crosswind.testbed import TestbedError

CAPTURED = Path(__file__).parent / "captured"
SUMMARY = (CAPTURED / "messages.json").read_bytes()


def test_a_round_trip_is_from_the_sending_of_a_question_and_warm_up_is_none() -> None:
    rows = (CAPTURED / "messages.csv").read_bytes()
    found = read_messages(rows, SUMMARY)
    assert len(found.round_trip_ns) == 20
    # The sixth row is the first that counts; how late it was sent is the machine's affair.
    assert found.round_trip_ns[0] == 41314595393058 - 41314595309875
    assert found.failed == 0


def test_without_an_answer_the_reason_is_named() -> None:
    rows = b"operation,connection,intended_ns,started_ns,finished_ns,ok,measured\ncall,0,1,1,2,0,1\n"
    with pytest.raises(TestbedError, match="not one was answered"):
        read_messages(rows, SUMMARY)


def test_thinning_keeps_the_order_and_the_first() -> None:
    many = Messages(list(range(1000)), list(range(1000)), 0)
    assert many.thinned(100) == list(range(0, 1000, 10))
    assert many.between(10, 12).round_trip_ns == [10, 11, 12]
