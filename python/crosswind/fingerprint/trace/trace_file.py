"""Read the rates of a sender over time from files of many tools. Pure functions.

The content of a file determines its format:

**CSV** of time and rate, in the format of a link's capacity (`crosswind.spec.trace`): each rate lasts until
the next time. A rate of 0 is a rest, in which nothing was sent.

**A trace of Mahimahi**, or **a capture** (pcap, pcapng): over windows (`windows.py`).

**A fingerprint** (`crosswind fingerprint`): its trace; for a regime (`--regime`), that of its longest
sitting.

**iperf3's JSON** (`iperf3.py`) and its **text** (`iperf3_text.py`), **OSMeF's JSON** (`osmef.py`), and
**nuttcp's intervals** (`nuttcp.py`).
"""

from __future__ import annotations

import json

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.analysis.osmef.file import osmef_trace
from crosswind.errors import CrosswindError
from crosswind.fingerprint.regime.record import is_record, read_record
from crosswind.fingerprint.trace.iperf3 import iperf3_trace, with_both_sums
from crosswind.fingerprint.trace.iperf3_text import iperf3_text_trace, is_iperf3_text
from crosswind.fingerprint.trace.nuttcp import is_nuttcp, nuttcp_trace
from crosswind.fingerprint.trace.windows import capture_trace, mahimahi_trace
from crosswind.spec.capture_file import is_capture
from crosswind.spec.text_lines import meant
from crosswind.spec.trace import parse_rates

WINDOW_S = 0.1


class TraceFileError(CrosswindError):
    """A file is no trace of traffic; the message gives the place and the remedy."""


def read_trace(
    name: str, content: bytes, *, window_s: float = WINDOW_S, back: bool = False
) -> tuple[TrafficTrace, str | None]:
    """Return the samples of a file, and the error of its tool, if any.

    Args:
        name: of the file, for messages.
        window_s: length of a sample, where a file has single packets.
        back: whether to read the reverse direction, where a file has both.
    Raises: TraceFileError: it has none of these formats, or nothing was carried.
    """
    try:
        trace, complaint = _read(content, window_s, back)
        if not trace.bits.any():
            raise ValueError("carried nothing in any sample; measure again")
    except ValueError as error:
        raise TraceFileError(f"{name}: {error}") from None
    return trace, complaint


def _read(content: bytes, window_s: float, back: bool) -> tuple[TrafficTrace, str | None]:
    if is_capture(content):
        return capture_trace(content, window_s)
    if is_record(content):
        return read_record(content).longest_trace(), None
    if content.lstrip()[:1] == b"{":
        return _json(content, back)
    if is_iperf3_text(content):
        return iperf3_text_trace(content, back=back)
    _, first = next(meant(content), (0, ""))
    if first.isdigit():
        return mahimahi_trace(content, window_s), None
    return nuttcp_trace(content) if is_nuttcp(first) else (_csv(content), None)


def _csv(content: bytes) -> TrafficTrace:
    trace = parse_rates(content)
    if None in trace.rate_bps:
        raise ValueError("`unlimited` is no measured rate; remove such rows")
    if trace.end_ns is None and len(trace.at_ns) < 2:
        raise ValueError("a single row has no duration; end with a row of a time and `end`")
    # Without an end, the last row lasts as long as the one before it.
    end_ns = trace.end_ns or 2 * trace.at_ns[-1] - trace.at_ns[-2]
    at_s = np.array([*trace.at_ns, end_ns], dtype=np.float64) / 1e9
    rates = np.array(trace.rate_bps, dtype=np.float64)
    sent = rates > 0
    return TrafficTrace.of(at_s[:-1][sent], at_s[1:][sent], (rates * np.diff(at_s))[sent])


def _json(content: bytes, back: bool) -> tuple[TrafficTrace, str | None]:
    try:
        read = json.loads(content, object_pairs_hook=with_both_sums)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise ValueError(
                f"line {error.lineno}: another document begins; put one run into a file"
            ) from None
        raise ValueError(f"is no whole JSON ({error}); is the file cut off?") from None
    except RecursionError:
        raise ValueError("is nested too deeply to be a result of any tool") from None
    if "trace" in read:
        return _fingerprint(read["trace"]), None
    if read.get("ended"):
        raise ValueError(f"is a fingerprint without a trace, since it ended early ({read['ended']})")
    return osmef_trace(read) if "btc" in read else iperf3_trace(read, back=back)


def _fingerprint(trace: object) -> TrafficTrace:
    try:
        begin, end, bits = np.array(trace, dtype=np.float64).reshape(-1, 3).T
    except (TypeError, ValueError):
        raise ValueError("trace: is no list of [begin, end, bits]; is it a fingerprint?") from None
    return TrafficTrace.of(begin, end, bits)
