"""From payload, which tools of transport count, to IP bits, which networks do."""

from __future__ import annotations

# IP, TCP and the timestamps that Linux puts into every segment; IP and UDP.
TCP_HEADERS_BYTES = 20 + 20 + 12
UDP_HEADERS_BYTES = 20 + 8
# What a segment of TCP carries in packets of 1500 bytes, where a tool does not say.
TCP_SEGMENT_BYTES = 1448
_LARGEST_BYTES = 1 << 20


def ip_share(payload_bytes: object, headers_bytes: int) -> float:
    """Return IP bytes per payload byte; 1 where the size of a packet's payload is not known."""
    known = isinstance(payload_bytes, int) and 0 < payload_bytes < _LARGEST_BYTES
    return (payload_bytes + headers_bytes) / payload_bytes if known else 1.0  # type: ignore[operator]
