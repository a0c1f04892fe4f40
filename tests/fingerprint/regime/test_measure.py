"""When a regime is complete, and when nothing arrives any more."""

from __future__ import annotations

import pytest
import regime_parts
from regime_parts import S, sitting

from crosswind.fingerprint.regime.measure import ALL_MEASURED, Silence, SilenceWatch, is_complete
from crosswind.fingerprint.regime.pattern import Pattern
from crosswind.fingerprint.regime.points import RegimePoint
from crosswind.fingerprint.regime.record import Header, Record
from crosswind.testbed.plain import plain_fabric


def point(begin_s: int, payload_bytes: int) -> RegimePoint:
    return regime_parts.point(begin_s * S, 10, payload_bytes, 3)


@pytest.mark.parametrize(
    ("wanted_s", "ended", "complete"),
    [(10, None, True), (35, None, False), (35, ALL_MEASURED, True), (60, ALL_MEASURED, False)],
)
def test_a_rest_at_the_end_is_not_waited_for(wanted_s: float, ended: str | None, complete: bool) -> None:
    header = Header.of(plain_fabric(), "10-30", 10.0, 4, {})
    record = Record(header, (sitting([point(0, 1)], ended=ended),))
    assert is_complete(record, Pattern.read("10-30"), wanted_s) == complete


def test_what_was_never_begun_is_not_complete() -> None:
    header = Header.of(plain_fabric(), "full-speed", 10.0, 4, {})
    assert not is_complete(Record(header, ()), Pattern.read("full-speed"), 60)


def test_a_silence_ends_a_sitting_and_a_shorter_one_does_not() -> None:
    watch = SilenceWatch(("a", "b"), 30.0)
    for begin_s, payload_bytes in ((0, 1), (10, 0), (20, 0), (30, 1), (40, 0), (50, 0)):
        watch.hear(point(begin_s, payload_bytes))
    with pytest.raises(Silence, match=r"b: nothing arrived for 30 s of sending, .*firewall"):
        watch.hear(point(60, 0))
