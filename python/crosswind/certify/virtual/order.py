"""Claims: every packet has exactly one fate, and packets of one flow do not overtake each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.spec.resolved import Places, SentElement
from crosswind.testbed.plain import plain_fabric

FAMILY = "order and conservation"
PACKETS = 10_000  # Of each of the four nodes.
NODES = ("n0", "n1", "n2", "n3")
RATE_BPS = 100_000_000

# Policers, shapers and schedulers at the host and at the switch, as in the ICPE '23 study, but smaller.
_POLICE: SentElement = {"police": {"rate_bps": RATE_BPS // 2, "burst_bytes": 30_000}}
_SHAPE: SentElement = {"shape": {"rate_bps": RATE_BPS // 2, "burst_bytes": 30_000, "buffer_bytes": 60_000}}
_STRICT: SentElement = {"schedule": {"by": "strict", "queues": [{"dscp": [46]}, {"dscp": None}]}}
_DRR: SentElement = {
    "schedule": {"by": "drr", "queues": [{"dscp": [46], "weight": 3}, {"dscp": None, "weight": 1}]}
}
SETUPS: dict[str, Places] = {
    "policed and scheduled by the switch": {"switch.ingress": [_POLICE], "switch.egress": [_STRICT]},
    "shaped and scheduled by the host": {
        "host.egress": [_SHAPE, _DRR],
        "link": [{"delay": {"time_ns": 5000}}],
    },
}


def claims() -> Iterator[Claim]:
    """Yield both claims for set-ups that drop, delay and reorder between classes as much as possible."""
    rng = np.random.default_rng(7)
    at = rng.integers(0, PACKETS * 100_000, (len(NODES), PACKETS))
    source = np.repeat(np.arange(len(NODES)), PACKETS)
    packets = Packets.of(
        at.ravel(),
        rng.integers(40, 1501, at.size),
        dscp=rng.choice([0, 46], at.size),
        source=source,
        destination=(source + rng.integers(1, len(NODES), at.size)) % len(NODES),
    )
    for name, places in SETUPS.items():
        fabric = plain_fabric(NODES, rate_bps=RATE_BPS, buffer_bytes=60_000, delay_ns=2000, places=places)
        fates = play(fabric, packets)
        yield at_most(
            FAMILY,
            f"{name}: packets without exactly one fate",
            "virtual",
            fates.unaccounted,
            0,
            "packets",
            "a packet departs once, or is dropped once with a reason",
            details={"packets": len(packets), "dropped": int(np.sum(fates.fate != "departed"))},
        )
        yield at_most(
            FAMILY,
            f"{name}: packets that overtook their own flow",
            "virtual",
            fates.overtaken,
            0,
            "packets",
            "no element here may reorder packets of one sender, receiver and DSCP",
        )
