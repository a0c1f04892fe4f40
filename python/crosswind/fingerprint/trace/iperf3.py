"""Read the intervals of iperf3's JSON (`iperf3 -J`), all connections together. Pure functions.

iperf3 counts payload. The segment size that it reports converts payload to IP bits (1448 bytes in a packet of
1500). A client that receives (`-R`) counts what arrived; one that sends counts what it wrote, some of which
is still in the socket's buffer. Omitted intervals (`-O`) are skipped. An aborted run is read as far as it
goes.

With `--bidir` an interval has two sums: `sum` is what the client sent. Up to version 3.10 the second is also
called `sum`, and a JSON reader would only keep the last one, so this module reads both.

Which time an interval covers is decided in `iperf3_intervals.py`; `iperf3_text.py` reads a run without `-J`.

Source: iperf3 3.1.3 and 3.12, `iperf_api.c` (the JSON's `intervals` and `error`); esnet/iperf issue 952.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import JsonValue

from crosswind.analysis.network.ip_bits import TCP_HEADERS_BYTES, UDP_HEADERS_BYTES, ip_share
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.trace.iperf3_intervals import Iperf3Interval, counted

_FORTH, _BACK = "sum", "sum_bidir_reverse"
# Starts, ends and durations come from one clock, rounded differently.
_RESOLUTION_S = 1e-3
_LARGEST = 1e18


def with_both_sums(pairs: Sequence[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Return a JSON object, in which a second `sum` is the reverse direction (an `object_pairs_hook`)."""
    read: dict[str, JsonValue] = {}
    for key, value in pairs:
        read[_BACK if key == _FORTH and _FORTH in read else key] = value
    return read


def iperf3_trace(run: Mapping[str, JsonValue], *, back: bool = False) -> tuple[TrafficTrace, str | None]:
    """Return the samples of a run, and the error of iperf3, if any.

    Args:
        run: the JSON, its objects made by `with_both_sums`.
        back: whether to read the reverse direction of a bidirectional run.
    Raises: ValueError: nothing was carried, or an interval is malformed; names it.
    """
    error = str(run["error"]) if run.get("error") else None
    intervals = run.get("intervals")
    intervals = intervals if isinstance(intervals, list) else []
    wanted = _BACK if back else _FORTH
    if back and intervals and not any(isinstance(each, dict) and _BACK in each for each in intervals):
        raise ValueError("was not measured in both directions (`iperf3 --bidir`); leave --back out")
    share = _ip_share(run.get("start"))
    rows = [_interval(number, each, wanted, share) for number, each in enumerate(intervals)]
    return trace_of(rows, _RESOLUTION_S, error)


def trace_of(
    intervals: Sequence[Iperf3Interval], resolution_s: float, error: str | None
) -> tuple[TrafficTrace, str | None]:
    """Return the samples of a run's intervals, and the error of iperf3, if any.

    Args:
        intervals: including omitted ones.
        resolution_s: of their starts and ends in the file.
        error: with which iperf3 ended.
    Raises: ValueError: nothing was carried, or the time of an interval is ambiguous.
    """
    rows = counted(intervals, resolution_s)
    if not rows:
        raise ValueError(f"iperf3 carried nothing ({error or 'no interval has a length'}); measure again")
    columns = np.array([(row.begin_s, row.end_s, row.ip_bits) for row in rows]).T
    complaint = f"iperf3 ended with an error ({error}); read as far as it goes" if error else None
    return TrafficTrace.of(*columns), complaint


def _ip_share(start: object) -> float:
    """Return IP bytes per payload byte, from iperf3's description of its test."""
    if not isinstance(start, Mapping):
        return 1.0
    test = start.get("test_start")
    if isinstance(test, Mapping) and test.get("protocol") == "UDP":
        return ip_share(test.get("blksize"), UDP_HEADERS_BYTES)
    return ip_share(start.get("tcp_mss_default"), TCP_HEADERS_BYTES)


def _interval(number: int, interval: JsonValue, wanted: str, ip_share: float) -> Iperf3Interval:
    total = interval.get(wanted) if isinstance(interval, dict) else None
    said = {key: _number(total, key) for key in ("start", "end", "bytes", "seconds")}
    begin, end, payload = said["start"], said["end"], said["bytes"]
    if begin is None or end is None or payload is None or not isinstance(total, dict):
        raise ValueError(f"interval {number} has no {wanted} of start, end and bytes; is it iperf3's?")
    omitted = total.get("omitted") is True
    return Iperf3Interval(f"interval {number}", begin, end, 8 * payload * ip_share, said["seconds"], omitted)


def _number(total: JsonValue, key: str) -> float | None:
    value = total.get(key) if isinstance(total, dict) else None
    return float(value) if isinstance(value, int | float) and abs(value) < _LARGEST else None
