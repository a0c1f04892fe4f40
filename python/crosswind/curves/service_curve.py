"""How late a server is against a rate-latency service curve, in linear time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def service_curve_lateness_ns(
    arrived_ns: ArrayLike,
    departed_ns: ArrayLike,
    size_bytes: ArrayLike,
    *,
    rate_bps: float,
    latency_ns: float,
) -> float:
    """Return how much later than a rate-latency service curve allows the latest packet left.

    A server that owes a flow the rate R after at most T lets packet k leave by C(k) + T, where the flow's
    clock C(k) = max(arrival(k), C(k-1)) + size(k) / R. Written out, C(k) = S(k)/R + the largest of
    arrival(j) - S(j-1)/R over j <= k, which is one pass.

    Args:
        arrived_ns: shape (n,), n >= 1, ascending; the packets of one flow.
        departed_ns: shape (n,), of the same packets; inf where one was lost.
        size_bytes: shape (n,), as the server counts them.
        rate_bps: what the flow is owed, bits per second, above 0.
        latency_ns: how long it may wait for it.
    Returns: ns; 0 or less where the curve was kept.
    Raises: ValueError: the arrays differ in length, or are empty.
    Source: Goyal, Lam and Vin 1995 (guaranteed-rate clock); Le Boudec and Thiran, Network Calculus, 2001,
        section 2.1.3, that it is the service curve R (t - T)+ of a server that keeps the flow's order.
    """
    arrived = np.asarray(arrived_ns, dtype=np.float64)
    departed = np.asarray(departed_ns, dtype=np.float64)
    size = np.asarray(size_bytes, dtype=np.float64)
    if not arrived.shape == departed.shape == size.shape or arrived.size == 0:
        raise ValueError("give arrived_ns, departed_ns and size_bytes of the same packets, at least one")
    origin = arrived[0]  # Small numbers keep their fractions of a nanosecond.
    served = np.cumsum(size) * (8e9 / rate_bps)
    before = served - size * (8e9 / rate_bps)
    clock = served + np.maximum.accumulate(arrived - origin - before)
    return float(np.max(departed - origin - clock)) - latency_ns
