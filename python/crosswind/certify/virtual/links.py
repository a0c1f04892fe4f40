"""Claims: links serialise at their rate, from 1 Mbit/s to 5 Gbit/s, without drift."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.exact import serialised_ns, wire_bytes
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text

FAMILY = "links"
RATES_BPS = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 5_000_000_000)
PACKETS = 5000


def claims() -> Iterator[Claim]:
    """Yield a claim for each rate, with packets of many sizes at a load of 0.81."""
    sizes = np.random.default_rng(1).integers(40, 1501, PACKETS)
    for rate_bps in RATES_BPS:
        gap_ns = 1000 * 8e9 / rate_bps  # The mean packet has 810 wire bytes, so the load is 0.81.
        at = np.random.default_rng(2).exponential(gap_ns, PACKETS).cumsum().astype(np.int64)
        fates = play(plain_fabric(rate_bps=rate_bps), Packets.of(at, sizes))
        wires = [wire_bytes(int(size)) for size in sizes]
        # The sender's uplink, then the receiver's downlink, which gets the packets as they leave the uplink.
        up = [-(-due // 1) for due in serialised_ns(zip(at.tolist(), wires, strict=True), rate_bps)]
        down = serialised_ns(zip(up, wires, strict=True), rate_bps)
        late = [
            abs(left - float(due)) if np.isfinite(left) else np.inf
            for left, due in zip(fates.departed_ns.tolist(), down, strict=True)
        ]
        yield at_most(
            FAMILY,
            f"departures from a link of {rate_text(rate_bps)}",
            "virtual",
            max(late),
            1,
            "ns",
            "Lindley's recursion in exact arithmetic; instants are whole nanoseconds, rounded up",
            details={"packets": PACKETS},
        )
