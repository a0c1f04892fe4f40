"""How far traffic exceeds a token bucket's arrival curve, over every window, in linear time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Excess:
    """The worst window: from packet `first` to packet `last` (both included, counted from 0)."""

    bytes: float  # Above 0 the curve was broken; below, so much was the least room left.
    first: int
    last: int


def arrival_curve_excess(
    at_ns: ArrayLike, size_bytes: ArrayLike, *, rate_bps: float, burst_bytes: float
) -> Excess:
    """Return the largest excess of traffic over `burst + rate * time`, over all windows that it has.

    A window runs from one packet to another and holds both, so the shortest has no length and one packet.
    With S(k) the bytes up to packet k, the excess of the window i..j is
    [S(j) - r t(j)] - [S(i-1) - r t(i)] - burst; the smallest second bracket up to j is kept while j runs,
    which makes n^2 windows one pass.

    Args:
        at_ns: shape (n,), n >= 1, ascending; when each packet passed.
        size_bytes: shape (n,), sizes as the bucket counts them.
        rate_bps: bits per second, above 0.
        burst_bytes: depth of the bucket.
    Raises: ValueError: no packets, or instants that go back; sort the packets by their instants.
    Source: Le Boudec and Thiran, Network Calculus, 2001, section 1.2 (arrival curves).
    """
    at = np.asarray(at_ns, dtype=np.int64)
    size = np.asarray(size_bytes, dtype=np.float64)
    if at.size == 0 or at.shape != size.shape:
        raise ValueError(f"at_ns of shape {at.shape}, size_bytes of {size.shape}: give one of each a packet")
    if np.any(np.diff(at) < 0):
        raise ValueError("at_ns: an instant lies before the one above it; sort the packets by their instants")
    earned = (at - at[0]) * (rate_bps / 8e9)
    sent = np.cumsum(size)
    ends = sent - earned
    starts = sent - size - earned
    least = np.minimum.accumulate(starts)
    last = int(np.argmax(ends - least))
    first = int(np.argmin(starts[: last + 1]))
    return Excess(float(ends[last] - starts[first]) - burst_bytes, first, last)
