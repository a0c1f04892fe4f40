"""Rates and buffers as switches count them: in frames, for packets of the size of the MTU.

The emulator counts wire bytes on links (with preamble, gap and FCS) and IP bytes in elements. Kernel and Open
vSwitch count frames without FCS. The translation is exact for full packets, and smaller ones get somewhat
less.
"""

from __future__ import annotations

# Ethernet's header; and what else a frame takes on a wire: FCS, preamble and the least gap.
HEADER_BYTES = 14
REST_BYTES = 24
# The kernel's queues need a number where the emulator has no limit.
UNLIMITED_BYTES = 1 << 30


def of_wire(wire: int, mtu_bytes: int) -> int:
    """Return wire bytes, or bits per second, as those of full frames."""
    frame = mtu_bytes + HEADER_BYTES
    return wire * frame // (frame + REST_BYTES)


def of_ip(ip: int, mtu_bytes: int) -> int:
    """Return IP bytes, or bits per second, as those of full frames."""
    return ip * (mtu_bytes + HEADER_BYTES) // mtu_bytes
