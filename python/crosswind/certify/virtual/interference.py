"""Claims: waiting times behind Poisson interference match queueing theory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.exact import wire_bytes
from crosswind.certify.virtual.waiting import RATE_BPS, SERVICE_NS, WaitMargin, waiting
from crosswind.spec import FabricSpec, ResolvedInterference
from crosswind.testbed.plain import plain_fabric

FAMILY = "interference"
LOAD = 0.5
PACKETS = 40_000
GAP_NS = 500_000  # The mean; these packets add less than 1 % to the load.
IP_BYTES = 46
# They meet 100 000 packets of interference. Lindley's recursion with 100 seeds differed from theory by at
# most 4.8 % in the mean and 0.013 in the distribution.
MARGIN = WaitMargin(0.05, 0.015)


def claims() -> Iterator[Claim]:
    """Yield claims on the mean and the distribution of the waiting times of small packets."""
    at = np.random.default_rng(7).exponential(GAP_NS, PACKETS).cumsum().astype(np.int64)
    left = play(ghosts(LOAD), Packets.of(at, IP_BYTES)).departed_ns
    waits = left - at - wire_bytes(IP_BYTES) * 8e9 / RATE_BPS
    yield from waiting(FAMILY, f"behind Poisson interference of load {LOAD:g}", waits, LOAD, MARGIN)


def ghosts(load: float) -> FabricSpec:
    """Return a fabric whose first uplink, the only link with a rate, carries packets of 1500 bytes."""
    levels = {"at_ns": [0], "rate_bps": [RATE_BPS], "repeat_ns": None}
    capacity = {"capacity": {"process": {"levels": levels}, "direction": "up", "on": ["h0"]}}
    fabric = plain_fabric(places={"link": [capacity]})
    source = {
        "between": ["h0", "h1"],
        "by": "ghost",
        "rate": {"constant_bps": round(load * 1500 * 8e9 / SERVICE_NS)},
        "arrivals": "poisson",
        "packet_ip_bytes": 1500,
        "hold_ns": 1_000_000_000,
        "pacing_ns": 1_000_000,
        "zero": "silence",
    }
    return fabric.beside(ResolvedInterference.model_validate(source))
