"""Read the text of iperf3 without `-J`: the intervals of a client or of a server. Pure function.

The text has a line for each connection and interval, and `[SUM]` for several connections. With `--bidir` the
role in each line (`TX-C`, `RX-S` ...) is the direction. Lines marked `(omitted)` are skipped, and so is the
summary after the second heading. iperf3's MBytes are 2^20 bytes, its Mbits 10^6 bits. Volumes have three
digits and times two, so the text is less exact than `-J`.

TCP segments are assumed to have 1448 bytes in a packet of 1500, unless `-V` printed their size. For UDP the
text has the number of datagrams.

Source: iperf3 3.1.3 to 3.18, `iperf_locale.c`, and its output (tests/fingerprint/captured).
"""

from __future__ import annotations

import re

from crosswind.analysis.network.ip_bits import (
    TCP_HEADERS_BYTES,
    TCP_SEGMENT_BYTES,
    UDP_HEADERS_BYTES,
    ip_share,
)
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.trace.iperf3 import trace_of
from crosswind.fingerprint.trace.iperf3_intervals import Iperf3Interval
from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError, meant

# `--timestamps` puts any words before each line, and a terminal puts ^C there.
_HEADING = re.compile(r"\[ ID\](?:\[Role\])? +Interval +Transfer +(?:Bitrate|Bandwidth)")
_ROW = re.compile(r"\[ *(?:[0-9]{1,6}|SUM)\](?!.* (?:local|connected|Sent) )")
_INTERVAL = re.compile(
    r"\[ *(?P<stream>[0-9]{1,6}|SUM)\](?:\[(?P<role>[TR]X-[CS])\])? +"
    r"(?P<begin>[0-9]{1,9}\.[0-9]{2})-(?P<end>[0-9]{1,9}\.[0-9]{2}) +sec +"
    r"(?P<volume>[0-9.]{1,9}) (?P<prefix>[KMGT]?)Bytes +"
    r"(?P<rate>[0-9.]{1,9}) (?P<rate_prefix>[KMGT]?)(?P<rate_unit>bits|Bytes)/sec(?P<rest>.*)"
)
_DATAGRAMS = re.compile(r"(?:(?P<lost>-?[0-9]{1,12})/)?(?P<all>[0-9]{1,12})(?: \(\S*%\))? *(?:\(omitted\))?$")
_SEGMENT = re.compile(r"TCP MSS: ([0-9]{1,6}) ")
_ERROR = re.compile(r"iperf3: (?:error - |interrupt - )(.*)")
_POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
# Roles of the forward direction: the client sends, the server receives.
_FORTH = (None, "TX-C", "RX-S")
_BACK = ("RX-C", "TX-S")
# Times have two digits. Volume over rate, of three digits each, gives the time to within a hundredth.
_RESOLUTION_S = 0.0101
_TIMED_WITHIN = 0.02


def is_iperf3_text(content: bytes) -> bool:
    """Return whether a file has the heading that iperf3 prints above its intervals."""
    return _HEADING.search(content[: 1 << 16].decode(errors="replace")) is not None


def iperf3_text_trace(content: bytes, *, back: bool = False) -> tuple[TrafficTrace, str | None]:
    """Return the samples of a run, and the error of iperf3, if any.

    Args:
        back: whether to read the reverse direction of a bidirectional run.
    Raises: ValueError: a line is not iperf3's, there is no interval, or the time of one is ambiguous.
    """
    rows: list[tuple[int, re.Match[str]]] = []
    headings, error, segment_bytes, udp = 0, None, TCP_SEGMENT_BYTES, False
    for number, line in meant(content):
        if found := _ERROR.search(line):
            error = error or found[1]
        elif found := _SEGMENT.search(line):
            segment_bytes = int(found[1])
        elif _HEADING.search(line):
            headings += 1
            udp = udp or (headings == 1 and "Datagrams" in line)
        elif headings == 1 and _ROW.search(line):
            row = _INTERVAL.search(line)
            if row is None:
                raise LineError(
                    number, f"{shown(line)} is no interval of iperf3; is it damaged? `-J` is safer"
                )
            rows.append((number, row))
        elif headings > 1 and "Accepted connection" in line:
            raise LineError(number, "another run begins; put one run into a file")
    wanted = _BACK if back else _FORTH
    if back and rows and not any(row["role"] for _, row in rows):
        raise ValueError("was not measured in both directions (`iperf3 --bidir`); leave --back out")
    ours = [(number, row) for number, row in rows if row["role"] in wanted]
    summed = [(number, row) for number, row in ours if row["stream"] == "SUM"]
    if not summed and len({row["stream"] for _, row in ours}) > 1:
        raise ValueError(
            "has several connections and no [SUM]; give all lines of the output, or measure with -J"
        )
    share = 1.0 if udp else ip_share(segment_bytes, TCP_HEADERS_BYTES)
    intervals = [_interval(number, row, share, udp) for number, row in summed or ours]
    if not intervals and not error:
        error = "it printed no intervals; measure without -i 0"
    return trace_of(intervals, _RESOLUTION_S, error)


def _interval(number: int, row: re.Match[str], share: float, udp: bool) -> Iperf3Interval:
    begin_s, end_s = float(row["begin"]), float(row["end"])
    try:
        payload_bits = 8 * float(row["volume"]) * 1024 ** _POWER[row["prefix"]]
        rate_bps = float(row["rate"]) * (
            1000 ** _POWER[row["rate_prefix"]]
            if row["rate_unit"] == "bits"
            else 8 * 1024 ** _POWER[row["rate_prefix"]]
        )
    except ValueError:
        raise LineError(number, f"{shown(row[0])} has no number of bytes or bits") from None
    timed_s = payload_bits / rate_bps if rate_bps else end_s - begin_s
    agrees = abs(timed_s - (end_s - begin_s)) <= _RESOLUTION_S + _TIMED_WITHIN * timed_s
    headers_bits = 8 * UDP_HEADERS_BYTES * _datagrams(row["rest"]) if udp else 0
    return Iperf3Interval(
        f"line {number}",
        begin_s,
        end_s,
        payload_bits * share + headers_bits,
        None if agrees else timed_s,
        "(omitted)" in row["rest"],
    )


def _datagrams(rest: str) -> int:
    """Return the number of datagrams that arrived, from the end of a line of UDP."""
    found = _DATAGRAMS.search(rest.strip())
    return max(0, int(found["all"]) - int(found["lost"] or 0)) if found else 0
