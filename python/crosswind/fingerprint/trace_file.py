"""Read what a sender was given over time, from files of other tools. Pure functions.

**CSV** of time and rate, as traces of a link's capacity are written (`crosswind.spec.trace`): each rate holds
until the next time. A rate of 0 is a rest, in which nothing was sent.

**A fingerprint** (`crosswind fingerprint`): its trace.

**iperf3's JSON** (`iperf3 -J`): its intervals, the sum of all connections in each. It counts payload, and
networks count packets: with the segment size that it says, payload becomes IP bits (1448 bytes in a packet of
1500). A client that receives (`-R`) counts what arrived; one that sends counts what it wrote, of which the
socket's buffer has yet to go. A run that broke off is read as far as it went.

Source: iperf3 3.12, `iperf_api.c` (the JSON's `intervals` and `error`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from crosswind.errors import CrosswindError
from crosswind.fingerprint.traffic_trace import TrafficTrace
from crosswind.spec.trace import parse_rates

# IP, TCP and the timestamps that Linux puts into every segment; IP and UDP.
_TCP_HEADERS_BYTES = 20 + 20 + 12
_UDP_HEADERS_BYTES = 20 + 8
# What iperf3 ends with may be shorter, and empty.
_SHORTEST_S = 1e-3
_LARGEST = 1e18


class TraceFileError(CrosswindError):
    """A file is no trace of traffic; the message says where and what would help."""


def read_trace(name: str, content: bytes) -> tuple[TrafficTrace, str | None]:
    """Return the samples of a file, and what its tool complained of, if anything.

    Args:
        name: of the file, for messages.
    Raises: TraceFileError: it is none of these, or nothing in it was carried.
    """
    try:
        if content.lstrip()[:1] == b"{":
            return _json(content)
        return _csv(content), None
    except ValueError as error:
        raise TraceFileError(f"{name}: {error}") from None


def _csv(content: bytes) -> TrafficTrace:
    trace = parse_rates(content)
    if None in trace.rate_bps:
        raise ValueError("`unlimited` was never measured; leave such rows out")
    if trace.end_ns is None and len(trace.at_ns) < 2:
        raise ValueError("one row has no duration; end with a row of a time and `end`")
    # The last row lasts as long as the one before it, where the file does not say.
    end_ns = trace.end_ns or 2 * trace.at_ns[-1] - trace.at_ns[-2]
    at_s = np.array([*trace.at_ns, end_ns], dtype=np.float64) / 1e9
    rates = np.array(trace.rate_bps, dtype=np.float64)
    sent = rates > 0
    return TrafficTrace.of(at_s[:-1][sent], at_s[1:][sent], (rates * np.diff(at_s))[sent])


def _json(content: bytes) -> tuple[TrafficTrace, str | None]:
    try:
        read = json.loads(content)
    except ValueError as error:
        raise ValueError(f"is no whole JSON ({error}); is the file cut off?") from None
    return (_fingerprint(read["trace"]), None) if "trace" in read else _iperf3(read)


def _fingerprint(trace: Any) -> TrafficTrace:
    try:
        begin, end, bits = np.array(trace, dtype=np.float64).reshape(-1, 3).T
    except (TypeError, ValueError):
        raise ValueError("trace: is no list of [begin, end, bits]; is it a fingerprint's?") from None
    return TrafficTrace.of(begin, end, bits)


def _iperf3(run: Mapping[str, Any]) -> tuple[TrafficTrace, str | None]:
    complaint = str(run["error"]) if run.get("error") else None
    intervals = run.get("intervals")
    intervals = intervals if isinstance(intervals, list) else []
    read = [_interval(number, each) for number, each in enumerate(intervals)]
    rows = [row for row in read if row is not None]
    if not rows:
        raise ValueError(f"iperf3 carried nothing ({complaint or 'no intervals'}); measure again")
    begin, end, bits = np.array(rows).T
    return TrafficTrace.of(begin, end, bits * _ip_share(run.get("start"))), complaint


def _ip_share(start: object) -> float:
    """Return IP bytes per payload byte, by what iperf3 says of its test; 1 where it does not."""
    if not isinstance(start, Mapping):
        return 1.0
    test = start.get("test_start")
    protocol = test.get("protocol") if isinstance(test, Mapping) else None
    size, headers = (
        (test.get("blksize"), _UDP_HEADERS_BYTES)
        if isinstance(test, Mapping) and protocol == "UDP"
        else (start.get("tcp_mss_default"), _TCP_HEADERS_BYTES)
    )
    return (size + headers) / size if isinstance(size, int) and 0 < size < _LARGEST else 1.0


def _interval(number: int, interval: Any) -> tuple[float, float, float] | None:
    """Return begin, end and bits of an interval; None of the empty one that iperf3 may end with."""
    total = interval.get("sum") if isinstance(interval, Mapping) else None
    said = [total.get(key) for key in ("start", "end", "bytes")] if isinstance(total, Mapping) else []
    sound = [float(value) for value in said if isinstance(value, int | float) and abs(value) < _LARGEST]
    if len(sound) != 3:
        raise ValueError(f"interval {number} has no sum of start, end and bytes; is it iperf3's?")
    begin, end, payload = sound
    return None if end - begin < _SHORTEST_S else (begin, end, 8 * payload)
