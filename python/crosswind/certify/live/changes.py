"""A change of a link's level takes effect when it is due: outages end, and the first packet is seen.

Small packets are sent all the time through a link that stands still every other 5 ms. What waits when an
outage ends is due a frame's serialisation later; the receiver's stamp says when it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.probe import HEADER_BYTES, PAYLOAD_BYTES, Probes, probe_fabric
from crosswind.certify.quiet import Tries, Watch
from crosswind.certify.virtual.exact import wire_bytes
from crosswind.testbed.plain import plain_fabric

FAMILY = "capacity"
RATE_BPS = 1_000_000_000
HALF_NS = 5_000_000
PROBES_PER_S = 2000
DURATION_S = 2.0
ERROR_MAX_NS = 100_000
_WAY = "live"


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield how late the first packet after an outage comes, and how many come while one lasts."""

    def once(watch: Watch) -> tuple[Probes, dict[str, Any]]:
        probes, measurement = probe_fabric(_fabric(), PROBES_PER_S, int(PROBES_PER_S * DURATION_S))
        watch.judge(measurement)
        return probes, measurement

    tried = tries.measure("changes of capacity", once)
    probes, measurement = tried.result
    to_realtime_ns = measurement["window"]["realtime_minus_monotonic_ns"]
    (driven,) = measurement["capacity"]
    ends_ns = np.array(
        [change["at_ns"] + to_realtime_ns for change in driven["changes"] if change["rate_bps"]]
    )
    received_ns = np.sort(probes.received_ns)
    # Outages before the first packet, and the one that the last packet came before, show nothing.
    ends_ns = ends_ns[(ends_ns > received_ns[0] + HALF_NS) & (ends_ns < received_ns[-1])]
    first = np.searchsorted(received_ns, ends_ns)
    serialised_ns = wire_bytes(HEADER_BYTES + PAYLOAD_BYTES) * 8 * 10**9 / RATE_BPS
    errors_ns = received_ns[first] - ends_ns - serialised_ns
    yield at_most(
        FAMILY,
        "a change of level: error of the first packet, 99 %",
        _WAY,
        float(np.quantile(errors_ns, 0.99)),
        ERROR_MAX_NS,
        "ns",
        "an outage's end in the engine, and the receiver's stamp of what had waited for it",
        disturbed=tried.disturbed,
        details={
            "changes": len(errors_ns),
            "error_ns_p50": float(np.quantile(errors_ns, 0.5)),
            "error_ns_max": float(errors_ns.max()),
        },
    )
    # The half of an outage before its end: what left before it began has come by then.
    before = np.searchsorted(received_ns, ends_ns - HALF_NS // 2)
    yield at_most(
        FAMILY,
        "packets that leave in an outage",
        _WAY,
        float((first - before).sum()),
        0,
        "packets",
        "nothing passes a link that stands still",
        disturbed=tried.disturbed,
    )


def _fabric() -> dict[str, Any]:
    levels = {"at_ns": [0, HALF_NS], "rate_bps": [RATE_BPS, 0], "repeat_ns": 2 * HALF_NS}
    capacity = {"capacity": {"process": {"levels": levels}, "direction": "up", "on": ["h0"]}}
    # Packets that are handed over together would all count as late as the last of them.
    return {**plain_fabric(places={"link": [capacity]}), "merge_window_ns": 0}
