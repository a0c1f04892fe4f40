"""The account of what may be sent."""

from __future__ import annotations

import pytest

from crosswind.fingerprint.measure.sent_bytes import SentBytes, TooMuch


def test_what_would_exceed_is_refused_before_it_is_sent() -> None:
    sent = SentBytes(10_000_000)
    sent.expect(10_000_000, "all of it")
    sent.add(9_000_000)
    with pytest.raises(TooMuch, match=r"trace: takes about 1\.5MB after 9MB, .* 10MB; .*--send-at-most 21MB"):
        sent.expect(1_500_000, "trace")
    # A rate of 8 Mbit/s, and half as much again: 1.5 MB in a second.
    sent.fastest_bps = 8e6
    sent.expect_seconds(0.6, "a transfer")
    with pytest.raises(TooMuch):
        sent.expect_seconds(0.7, "a transfer")


def test_whoever_is_asked_may_allow_more_and_is_asked_again_for_more_than_that() -> None:
    asked: list[str] = []
    sent = SentBytes(10_000_000, lambda exceeds: asked.append(exceeds) is None and len(asked) == 1)
    sent.add(9_000_000)
    sent.expect(1_500_000, "trace")
    assert sent.most_bytes == 21_000_000
    sent.expect(12_000_000, "as much as was allowed")
    with pytest.raises(TooMuch, match="--send-at-most 42MB"):
        sent.expect(12_000_001, "more")
    assert asked[0] == "trace: takes about 1.5MB after 9MB, which exceeds the limit of 10MB"
    assert len(asked) == 2


def test_without_a_limit_nothing_is_refused() -> None:
    sent = SentBytes(None)
    sent.fastest_bps = 1e12
    sent.expect_seconds(1e6, "a long one")
