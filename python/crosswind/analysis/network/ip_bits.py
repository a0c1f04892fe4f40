"""Convert payload, which transport tools count, to IP bits, which networks count."""

from __future__ import annotations

# IP, TCP and the timestamps in every segment of Linux; IP and UDP.
TCP_HEADERS_BYTES = 20 + 20 + 12
UDP_HEADERS_BYTES = 20 + 8
# Payload of a TCP segment in packets of 1500 bytes, where a tool does not report it.
TCP_SEGMENT_BYTES = 1448
_LARGEST_BYTES = 1 << 20


def ip_share(payload_bytes: object, headers_bytes: int) -> float:
    """Return IP bytes per payload byte; 1 where the size of a packet's payload is unknown."""
    known = isinstance(payload_bytes, int) and 0 < payload_bytes < _LARGEST_BYTES
    return (payload_bytes + headers_bytes) / payload_bytes if known else 1.0  # type: ignore[operator]
