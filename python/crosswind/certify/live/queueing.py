"""Poisson arrivals wait at a live link, and others behind live interference, as long as queueing theory says.

Half of the packets do not wait at half load, so the lower quartile of what is measured is what crossing takes
besides: the sender's system call, the veth pairs and the emulator. A sender that a busy machine holds up
sends a burst afterwards, and that is no Poisson process: its own stamps say what its packets have to wait.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim
from crosswind.certify.quiet import Tries, Watch
from crosswind.certify.virtual import interference
from crosswind.certify.virtual.queueing import FAMILY
from crosswind.certify.virtual.waiting import RATE_BPS, SERVICE_NS, Margin, waiting
from crosswind.curves import MD1
from crosswind.probe.single_packets import PAYLOAD_BYTES, Probes, probe_fabric
from crosswind.spec import FabricSpec
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import time_text

LOAD = 0.5
DURATION_S = 4.0
WHOLE_PAYLOAD_BYTES = 1472
PROBES_PER_S = 1000
# Lindley's recursion over a hundred seeds of 20 000 packets was off by at most 8.4 % in the mean and 0.026 in
# the distribution, for those who come between; 2 us of the emulator's own are 4 % of the mean wait and 0.02.
MARGIN = Margin(0.125, 0.05)


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield claims on the waiting time of Poisson arrivals, and on that behind Poisson interference."""
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
    """Return what came of Poisson arrivals, and why nothing should be concluded from it, if so."""

    def once(watch: Watch) -> Probes:
        # A packet is given to its receiver when it is due, not when its window ends.
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
    """Say so where packets sent at these instants wait longer, or less, than those of a Poisson process."""
    waits_ns, free_ns = 0, 0
    for sent_ns in np.sort(probes.sent_ns).tolist():
        waits_ns += max(0, free_ns - sent_ns)
        free_ns = max(free_ns, sent_ns) + SERVICE_NS
    mean_ns = waits_ns / len(probes.sent_ns)
    theory_ns = MD1(LOAD, SERVICE_NS).mean_wait
    if abs(mean_ns / theory_ns - 1) <= MARGIN.mean / 2:
        return ""
    return (
        f"packets sent at these instants wait {time_text(mean_ns)} on average by Lindley's recursion, not "
        f"{time_text(theory_ns)}: something held the sender up; run it on a quiet machine"
    )
