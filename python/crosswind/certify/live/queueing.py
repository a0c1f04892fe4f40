"""Claims: waiting times at a live link, and behind live interference, match queueing theory.

At half load, half of the packets do not wait. So the lower quartile of the delays is the rest of the way: the
sender's system call, the veth pairs and the emulator. A sender that stalls on a busy machine sends a burst
afterwards, which is no Poisson process. Its time stamps show this, because they give the expected waits.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim
from crosswind.certify.quiet import Tries, Watch
from crosswind.certify.virtual import interference
from crosswind.certify.virtual.queueing import FAMILY
from crosswind.certify.virtual.waiting import RATE_BPS, SERVICE_NS, WaitMargin, waiting
from crosswind.curves import MD1
from crosswind.probe.single_packets import PAYLOAD_BYTES, Probes, probe_fabric
from crosswind.spec import FabricSpec
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import time_text

LOAD = 0.5
DURATION_S = 4.0
WHOLE_PAYLOAD_BYTES = 1472
PROBES_PER_S = 1000
# Lindley's recursion with 100 seeds of 20 000 packets differed from theory by at most 8.4 % in the mean and
# 0.026 in the distribution, for packets between the arrivals. Lateness of 2 us adds 4 % and 0.02.
MARGIN = WaitMargin(0.125, 0.05)


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield claims on the waiting times of Poisson arrivals, and on those behind Poisson interference."""
    name = f"M/D/1 at load {LOAD:g}"
    link = plain_fabric(rate_bps=RATE_BPS)
    per_s = LOAD * 1e9 / SERVICE_NS
    probes, disturbed = _send(tries, name, link, per_s, WHOLE_PAYLOAD_BYTES)
    yield from _claims(FAMILY, name, probes, disturbed or _not_poisson(probes))

    name = f"behind Poisson interference of load {LOAD:g}"
    probes, disturbed = _send(tries, name, interference.ghosts(LOAD), PROBES_PER_S, PAYLOAD_BYTES)
    yield from _claims(interference.FAMILY, name, probes, disturbed)


def _send(
    tries: Tries, name: str, fabric: FabricSpec, per_s: float, payload_bytes: int
) -> tuple[Probes, str]:
    """Return probes with Poisson arrivals, and why there can be no conclusion from them, or an empty text."""

    def once(watch: Watch) -> Probes:
        # Without merging, the receiver gets a packet when it is due, not at the end of the window.
        alone = fabric.with_changes(merge_window_ns=0)
        count = int(per_s * DURATION_S)
        probes, measurement = probe_fabric(alone, per_s, count, payload_bytes, gaps="exponential")
        watch.judge(measurement)
        return probes

    tried = tries.measure(name, once)
    return tried.result, tried.disturbed


def _claims(family: str, name: str, probes: Probes, disturbed: str) -> Iterator[Claim]:
    waits_ns = probes.delay_ns - np.quantile(probes.delay_ns, (1 - LOAD) / 2)
    yield from waiting(family, name, waits_ns, LOAD, MARGIN, clock="live", disturbed=disturbed)


def _not_poisson(probes: Probes) -> str:
    """Return a reason if packets sent at these instants have other waits than a Poisson process."""
    waits_ns, free_ns = 0, 0
    for sent_ns in np.sort(probes.sent_ns).tolist():
        waits_ns += max(0, free_ns - sent_ns)
        free_ns = max(free_ns, sent_ns) + SERVICE_NS
    mean_ns = waits_ns / len(probes.sent_ns)
    theory_ns = MD1(LOAD, SERVICE_NS).mean_wait
    if abs(mean_ns / theory_ns - 1) <= MARGIN.mean / 2:
        return ""
    return (
        f"the sender stalled: by Lindley's recursion its packets wait {time_text(mean_ns)} on average, not "
        f"{time_text(theory_ns)}; run it on a quiet machine"
    )
