"""The account of what may be sent."""

from __future__ import annotations

import pytest

from crosswind.fingerprint.measure.sent_bytes import SentBytes, TooMuch


def test_what_would_exceed_is_refused_before_it_is_sent() -> None:
    sent = SentBytes(10_000_000)
    sent.expect(10_000_000, "all of it")
    sent.add(9_000_000)
    with pytest.raises(TooMuch, match=r"trace: about 1\.5MB, after 9MB, .* 10MB .*--send-at-most 21MB"):
        sent.expect(1_500_000, "trace")
    # A rate of 8 Mbit/s, and half as much again: 1.5 MB in a second.
    sent.fastest_bps = 8e6
    sent.expect_seconds(0.6, "a transfer")
    with pytest.raises(TooMuch):
        sent.expect_seconds(0.7, "a transfer")


def test_without_a_limit_nothing_is_refused() -> None:
    sent = SentBytes(None)
    sent.fastest_bps = 1e12
    sent.expect_seconds(1e6, "a long one")
