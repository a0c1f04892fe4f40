"""Read the intervals of nuttcp (`nuttcp -i1`, with or without `-fparse`). Pure function.

The output has a line for each interval, and one for the whole transfer, which is skipped. nuttcp's MB is 2^20
bytes, its Mbit 10^6 bits. Its seconds have only two digits, so the length of an interval is computed from its
bits and its rate, which has seven. Intervals follow each other. For UDP the output has the number of packets.
TCP segments are assumed to have 1448 bytes in a packet of 1500, since nuttcp does not print their size.

Source: nuttcp 6.1.2, `nuttcp.c`, and its output (tests/fingerprint/captured).
"""

from __future__ import annotations

import re

import numpy as np

from crosswind.analysis.network.ip_bits import (
    TCP_HEADERS_BYTES,
    TCP_SEGMENT_BYTES,
    UDP_HEADERS_BYTES,
    ip_share,
)
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError, meant

_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,9})?)"
_INTERVAL = re.compile(
    rf"{_NUMBER} MB / +{_NUMBER} sec = +{_NUMBER} Mbps( .*)?"
    rf"|megabytes={_NUMBER} real_sec={_NUMBER} rate_Mbps={_NUMBER}( .*)?"
)
_PACKETS = re.compile(r"[0-9]+ / +([0-9]{1,12}) ~?drop/pkt|pkt=([0-9]{1,12})")
# Only the line of the whole transfer has these.
_WHOLE = re.compile(r"%TX|real_seconds=")
_ERROR = re.compile(r"nuttcp-[tr]: .*?Error: (.*)")
_NOTE = re.compile(r"nuttcp-[tr]: ")
_MEBI_BITS = 8 << 20


def is_nuttcp(line: str) -> bool:
    """Return whether a line is nuttcp's."""
    return bool(_INTERVAL.fullmatch(line) or _WHOLE.search(line) or _NOTE.match(line))


def nuttcp_trace(content: bytes) -> tuple[TrafficTrace, str | None]:
    """Return the samples, and the error of nuttcp, if any.

    Raises: LineError: a line is not nuttcp's, or there is no interval.
    """
    seconds: list[float] = []
    ip_bits: list[float] = []
    error: str | None = None
    for number, line in meant(content):
        found = _ERROR.match(line)
        error = error or (found[1] if found else None)
        if _NOTE.match(line) or _WHOLE.search(line):
            continue
        row = _INTERVAL.fullmatch(line)
        if row is None:
            raise LineError(number, f"{shown(line)} is no interval of nuttcp; print with -i1, or -i1 -fparse")
        mebibytes, lasts_s, rate_mbps, rest = (*filter(None, row.groups()), "")[:4]
        payload_bits = float(mebibytes) * _MEBI_BITS
        packets = _PACKETS.search(rest)
        seconds.append(payload_bits / (float(rate_mbps) * 1e6) if float(rate_mbps) else float(lasts_s))
        ip_bits.append(
            payload_bits * ip_share(TCP_SEGMENT_BYTES, TCP_HEADERS_BYTES)
            if packets is None
            else payload_bits + 8 * UDP_HEADERS_BYTES * int(packets[1] or packets[2])
        )
    if not seconds:
        raise LineError(0, f"nuttcp printed no interval ({error or 'only one line for all'}); print with -i1")
    ends = np.cumsum(seconds)
    complaint = f"nuttcp ended with an error ({error}); read as far as it goes" if error else None
    return TrafficTrace.of(ends - seconds, ends, ip_bits), complaint
