"""The lateness of a server, compared with a rate-latency service curve, in linear time."""

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
    """Return the largest lateness of a packet, compared with a rate-latency service curve.

    A server that guarantees a flow the rate R after a latency T sends packet k by C(k) + T, where the flow's
    clock C(k) = max(arrival(k), C(k-1)) + size(k) / R. Written out, C(k) = S(k)/R + the largest of
    arrival(j) - S(j-1)/R over j <= k, which is one pass.

    Args:
        arrived_ns: shape (n,), n >= 1, ascending; the packets of one flow.
        departed_ns: shape (n,), of the same packets; inf where one was lost.
        size_bytes: shape (n,), as the server counts them.
        rate_bps: guaranteed rate of the flow, bits per second, above 0.
        latency_ns: guaranteed latency.
    Returns: ns; 0 or less if the guarantee holds.
    Raises: ValueError: the arrays differ in length, or are empty.
    Source: Goyal, Lam and Vin 1995 (guaranteed-rate clock); Le Boudec and Thiran, Network Calculus, 2001,
        section 2.1.3, which shows that it is the service curve R (t - T)+ of a server that is FIFO for the
        flow.
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
