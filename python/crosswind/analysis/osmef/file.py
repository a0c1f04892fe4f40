"""Read a result of OSMeF: parallel nuttcp transfers, of which only totals are recorded. Pure function.

So there is one sample: all that arrived, over the time of the longest transfer. The sum of the transfers' own
rates would exceed the line's rate where they did not start and end together.

Source: OSMeF (github.com/bigfootproject/OSMEF), the JSON of its study: `btc` has `conn_1`, `conn_2` ..., each
what nuttcp 7 printed at either end, as text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import JsonValue

from crosswind.analysis.network.ip_bits import TCP_HEADERS_BYTES, TCP_SEGMENT_BYTES, ip_share
from crosswind.analysis.network.traffic_trace import TrafficTrace

_MEBI_BITS = 8 << 20
_LARGEST = 1e12


def osmef_trace(run: Mapping[str, JsonValue]) -> tuple[TrafficTrace, str | None]:
    """Return the sample of a run, and the transfers without a result, if any.

    Raises: ValueError: none has a result, or the number of transfers differs from `concurrent`.
    """
    transfers = run["btc"] if isinstance(run["btc"], dict) else {}
    concurrent = run.get("concurrent", len(transfers))
    if not transfers or concurrent != len(transfers):
        raise ValueError(
            f"OSMeF has `concurrent` {concurrent!r} and {len(transfers)} transfers; is the file complete?"
        )
    seconds, ip_bits, without = [], [], []
    for name, transfer in transfers.items():
        rx, tx = (end_of(transfer, end) for end in ("rx", "tx"))
        mebibytes, lasts_s = number_of(rx, "megabytes"), number_of(rx, "real_seconds")
        if mebibytes is None or not lasts_s:
            without.append(name)
            continue
        segment = int(number_of(tx, "mss") or TCP_SEGMENT_BYTES)
        seconds.append(lasts_s)
        ip_bits.append(mebibytes * _MEBI_BITS * ip_share(segment, TCP_HEADERS_BYTES))
    if not seconds:
        raise ValueError("OSMeF has no megabytes and real_seconds of any transfer; did nuttcp run?")
    complaint = f"no result of {', '.join(without)}; read the others" if without else None
    return TrafficTrace.of([0.0], [max(seconds)], [sum(ip_bits)]), complaint


def end_of(transfer: JsonValue, end: str) -> Mapping[str, JsonValue]:
    """Return the output of nuttcp at an end, `rx` or `tx`, of a transfer; empty where there is none."""
    said = transfer.get(end) if isinstance(transfer, dict) else None
    return said if isinstance(said, dict) else {}


def number_of(said: Mapping[str, JsonValue], key: str) -> float | None:
    """Return a number that nuttcp printed; None where it is missing, not finite, negative or absurd."""
    found = said.get(key)
    try:
        value = float(found) if isinstance(found, int | float | str) else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value < _LARGEST else None
