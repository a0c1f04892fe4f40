"""The excess of traffic over a token bucket's arrival curve, over all windows, in linear time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Excess:
    """The worst window: from packet `first` to packet `last` (both included, counted from 0)."""

    bytes: float  # Above 0 the traffic exceeds the curve; below 0 it is the smallest distance to it.
    first: int
    last: int


def arrival_curve_excess(
    at_ns: ArrayLike, size_bytes: ArrayLike, *, rate_bps: float, burst_bytes: float
) -> Excess:
    """Return the largest excess of traffic over `burst + rate * time`, over all windows.

    A window is from one packet to another and includes both, so the shortest has length 0 and one packet.

    Args:
        at_ns: shape (n,), n >= 1, ascending; when each packet passed.
        size_bytes: shape (n,), sizes as the bucket counts them.
        rate_bps: bits per second, above 0.
        burst_bytes: depth of the bucket.
    Raises: ValueError: no packets, or instants that do not ascend; sort the packets by their instants.
    Source: Le Boudec and Thiran, Network Calculus, 2001, section 1.2 (arrival curves).
    """
    above, ends = _above_and_ends(at_ns, size_bytes, rate_bps, burst_bytes)
    first = int(np.argmax(above))
    return Excess(float(above[first]), first, first + int(np.argmax(ends[first:])))


def window_excesses(
    at_ns: ArrayLike, size_bytes: ArrayLike, *, rate_bps: float, burst_bytes: float
) -> NDArray[np.float64]:
    """Return for each packet the largest excess in bytes over all windows that begin with it, shape (n,).

    Divided by the rate, it is the difference in lateness between that packet and a later one, as the bucket
    counts. Arguments, errors and source are those of `arrival_curve_excess`.
    """
    return _above_and_ends(at_ns, size_bytes, rate_bps, burst_bytes)[0]


def _above_and_ends(
    at_ns: ArrayLike, size_bytes: ArrayLike, rate_bps: float, burst_bytes: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest excess of windows that begin with each packet, and S(k) - r t(k) of each packet.

    With S(k) the bytes up to packet k, the excess of the window i..j is
    [S(j) - r t(j)] - [S(i-1) - r t(i)] - burst; the maximum of the first bracket from i on is updated
    while i decreases, so one pass covers n^2 windows.
    """
    at = np.asarray(at_ns, dtype=np.int64)
    size = np.asarray(size_bytes, dtype=np.float64)
    if at.size == 0 or at.shape != size.shape:
        raise ValueError(
            f"at_ns of shape {at.shape}, size_bytes of {size.shape}: give one of each per packet"
        )
    if np.any(np.diff(at) < 0):
        raise ValueError("at_ns: an instant is before the previous one; sort the packets by their instants")
    earned = (at - at[0]) * (rate_bps / 8e9)
    ends = np.cumsum(size) - earned
    most = np.maximum.accumulate(ends[::-1])[::-1]
    return most - (ends - size) - burst_bytes, ends
