"""Add up single packets, or opportunities to send one, over windows of equal length. Pure functions.

**A capture** (pcap, pcapng): the IP bytes of all its packets, in both directions. So capture one direction,
or filter it (`tcpdump -r all.pcap -w one.pcap src host 10.0.0.1`). A window without a packet is a rest. The
last, incomplete window is left out. A truncated capture is read as far as it goes.

**A trace of Mahimahi**: its opportunities of 1500 bytes up to its period. A window without one is an outage.
"""

from __future__ import annotations

import math

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.spec.capture_file import CapturedPacket, CaptureError, LinkNotRead, packets_of
from crosswind.spec.trace import OPPORTUNITY_IP_BYTES, parse_opportunities

_WINDOWS_MAX = 1_000_000


def capture_trace(content: bytes, window_s: float) -> tuple[TrafficTrace, str | None]:
    """Return the volumes of a capture, and where it was cut off, if it was.

    Raises: ValueError: no capture, no packet, or no whole window.
    """
    packets: list[CapturedPacket] = []
    complaint = None
    try:
        packets.extend(packets_of(content))
    except LinkNotRead:
        raise
    except CaptureError as error:
        # Packets before the error are in the list.
        if not packets:
            raise
        complaint = f"{error}; read the {len(packets)} packets before that"
    at_ns = np.array([packet.at_ns for packet in packets], dtype=np.int64)
    at_s = (at_ns - at_ns.min()) / 1e9
    count = math.floor(at_s.max() / window_s)
    if count < 1:
        raise ValueError(
            f"lasts {at_s.max():.6g} s, less than a window of {window_s:g} s; give a shorter --window"
        )
    _check(count, window_s)
    whole = at_s < count * window_s
    sizes = np.array([packet.ip_bytes for packet in packets], dtype=np.float64)
    bits = 8 * np.bincount((at_s[whole] / window_s).astype(np.intp), sizes[whole], minlength=count)[:count]
    begins = np.arange(count) * window_s
    sent = bits > 0
    return TrafficTrace.of(begins[sent], begins[sent] + window_s, bits[sent]), complaint


def mahimahi_trace(content: bytes, window_s: float) -> TrafficTrace:
    """Return the volumes that a link could carry.

    Raises: ValueError: a line is no opportunity, or there are too many windows.
    """
    trace = parse_opportunities(content)
    at_s = np.array(trace.at_ns, dtype=np.float64) / 1e9
    count = math.ceil(at_s[-1] / window_s)
    _check(count, window_s)
    # An opportunity belongs to the window before it: that of the last line ends the period.
    windows = np.maximum(np.ceil(at_s / window_s).astype(np.int64) - 1, 0)
    bits = np.bincount(windows, 8.0 * OPPORTUNITY_IP_BYTES * np.array(trace.count), minlength=count)
    begins = np.arange(count) * window_s
    return TrafficTrace.of(begins, np.minimum(begins + window_s, at_s[-1]), bits)


def _check(count: int, window_s: float) -> None:
    if count > _WINDOWS_MAX:
        raise ValueError(f"has {count} windows of {window_s:g} s; give a longer --window")
