"""How many bytes of frames may wait, from a buffer in any of its units."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from crosswind.backends.frames import HEADER_BYTES, UNLIMITED_BYTES, of_wire
from crosswind.spec.network import Link
from crosswind.spec.resolved import number


def frames_that_wait(
    parameters: Mapping[str, JsonValue], rate_bps: int | None, mtu_bytes: int, *, wire: bool
) -> int | None:
    """Return the limit of a queue in bytes of full frames; None where no buffer is given.

    Args:
        wire: whether bytes are those of the wire, and not of IP.
    """
    packets, size, time_ns = (number(parameters, f"buffer_{unit}") for unit in ("packets", "bytes", "ns"))
    if packets is not None:
        return packets * (mtu_bytes + HEADER_BYTES)
    if time_ns is not None and rate_bps is not None:
        size = rate_bps * time_ns // (8 * 10**9)
    if size is None:
        return None
    frame = mtu_bytes + HEADER_BYTES
    return max(frame, of_wire(size, mtu_bytes) if wire else size * frame // mtu_bytes)


def frames_of_link(link: Link, mtu_bytes: int) -> int:
    """Return the limit of a link's own queue in bytes of full frames."""
    buffer = link.buffer
    sizes = {name: getattr(buffer, of, None) for name, of in _UNITS.items()}
    return frames_that_wait(sizes, link.rate_bps, mtu_bytes, wire=True) or UNLIMITED_BYTES


_UNITS = {"buffer_bytes": "size_bytes", "buffer_packets": "packets", "buffer_ns": "time_ns"}
