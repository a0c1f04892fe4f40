"""A first idea of a network's rate, from messages of known size: what follows can then be foreseen."""

from __future__ import annotations

from crosswind.fingerprint.measure.ends import Network
from crosswind.fingerprint.measure.messages import ask
from crosswind.fingerprint.measure.sent_bytes import SentBytes

_SIZES_BYTES = (64 << 10, 1 << 20, 16 << 20)
# Longer than slow start takes on most paths; on a slow one the next size would take minutes.
_LONG_ENOUGH_NS = 200e6
# At this pace one message is due in the time, and no other.
_PER_S, _ONE_S = 1.0, 0.5


def first_rate(network: Network, sent: SentBytes) -> None:
    """Send ever larger messages until one takes a while; the account learns their bytes and rates.

    Raises: TooMuch: not even these may be sent.
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
