"""Estimate a network's rate from messages of known size, so that later measurements can be predicted."""

from __future__ import annotations

from crosswind.fingerprint.measure.ends import Network
from crosswind.fingerprint.measure.messages import ask
from crosswind.fingerprint.measure.sent_bytes import SentBytes

_SIZES_BYTES = (64 << 10, 1 << 20, 16 << 20)
# Longer than slow start on most paths; on a slower path the next size would take minutes.
_LONG_ENOUGH_NS = 200e6
# At this rate, one message is due in this time.
_PER_S, _ONE_S = 1.0, 0.5


def first_rate(network: Network, sent: SentBytes) -> None:
    """Send larger and larger messages until one takes long; record bytes and rate in `sent`.

    Raises: TooMuch: the limit does not even allow these.
    """
    for size in _SIZES_BYTES:
        sent.expect(size, "a first transfer")
        with network() as ends:
            answered = ask(ends, _ONE_S, _PER_S, size)
        sent.add(size * len(answered.round_trip_ns))
        took_ns = answered.round_trip_ns[0]
        sent.fastest_bps = max(sent.fastest_bps, 8e9 * size / took_ns)
        if took_ns > _LONG_ENOUGH_NS:
            return
