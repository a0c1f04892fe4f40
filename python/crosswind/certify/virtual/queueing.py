"""Claims: waiting times of Poisson arrivals at a link match queueing theory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.waiting import RATE_BPS, SERVICE_NS, WaitMargin, waiting
from crosswind.testbed.plain import plain_fabric

FAMILY = "queueing"
LOADS = (0.5, 0.7)
PACKETS = 200_000
# Consecutive waiting times are correlated, so 200 000 of them are worth a few thousand independent ones.
# Lindley's recursion with 100 seeds differed from theory by at most 3.8 % in the mean and 0.0097 in the
# distribution, both at the higher load.
MARGIN = WaitMargin(0.04, 0.01)


def claims() -> Iterator[Claim]:
    """Yield, for each load, claims on the mean and the distribution of the waiting time."""
    for load in LOADS:
        gaps = np.random.default_rng(6).exponential(SERVICE_NS / load, PACKETS)
        at = gaps.cumsum().astype(np.int64)
        left = play(plain_fabric(rate_bps=RATE_BPS), Packets.of(at)).departed_ns
        # Uplink and downlink serialise. Packets wait at the uplink only, because all have the same size.
        waits = left - at - 2 * SERVICE_NS
        yield from waiting(FAMILY, f"M/D/1 at load {load:g}", waits, load, MARGIN)
