"""Claims: schedulers give every class of real packets its service curve.

Disciplines and curves are those in virtual time. Each class has a node of its own. Its packets arrive at the
switch as they leave that node's uplink, calculated from the sender's time stamps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.quiet import Tries, Watch
from crosswind.certify.virtual.exact import serialised_ns
from crosswind.certify.virtual.schedulers import DISCIPLINES, FAMILY, MTU_WIRE_BYTES, Discipline
from crosswind.curves import service_curve_lateness_ns
from crosswind.probe.pairs import onto_one
from crosswind.probe.single_packets import Probes, probe_task, read_probes
from crosswind.results import Measurement
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import time_text

# A packet takes 1.2 ms, which is more than the lateness of an undisturbed machine.
RATE_BPS = 10_000_000
PACKET_NS = MTU_WIRE_BYTES * 8 * 10**9 // RATE_BPS
PACKETS = 400  # Of each class.
PAYLOAD_BYTES = 1472


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield a claim for every class of every discipline that has a guarantee with a bounded latency."""
    for discipline in DISCIPLINES:
        yield from _claims(tries, discipline)


def _claims(tries: Tries, discipline: Discipline) -> Iterator[Claim]:
    def once(watch: Watch) -> tuple[list[Probes], int]:
        probes, measurement = _send(discipline)
        watch.judge(measurement)
        return probes, measurement.ledger.error_ns["max"] or 0

    tried = tries.measure(discipline.name, once)
    classes, late_ns = tried.result
    disturbed = tried.disturbed
    if late_ns > PACKET_NS / 2:
        disturbed = disturbed or (
            f"the ledger has a packet {time_text(late_ns)} late, more than half of its serialisation time; "
            "run it on a quiet machine"
        )
    for probes, owed in zip(classes, discipline.classes, strict=True):
        if not np.isfinite(owed.latency_bytes):
            continue  # A class below strict priority has no bounded latency.
        yield at_most(
            FAMILY,
            f"{discipline.name}: class {owed.dscp} against its service curve",
            "live",
            _lateness_ns(probes, owed.share, owed.latency_bytes),
            PACKET_NS,
            "ns",
            f"{discipline.because}; plus one packet's serialisation for the machine",
            disturbed=disturbed,
            details={"packets": PACKETS, "share": owed.share, "ledger_ns_max": late_ns},
        )


def _send(discipline: Discipline) -> tuple[list[Probes], Measurement]:
    """Return the packets of each class, and the measurement."""
    nodes = [f"n{number}" for number in range(len(discipline.classes) + 1)]
    receiver = f"h{len(discipline.classes)}"
    fabric = plain_fabric(
        nodes,
        rate_bps=RATE_BPS,
        places={
            "host.egress": [
                {"mark": {"dscp": owed.dscp, "on": [f"h{number}"]}}
                for number, owed in enumerate(discipline.classes)
            ],
            "switch.egress": [{"schedule": {**discipline.schedule, "on": [receiver]}}],
        },
    )
    files = [f"class-{owed.dscp}.csv" for owed in discipline.classes]
    tasks = [
        probe_task(
            owed.load * 1e9 / PACKET_NS,
            PACKETS,
            PAYLOAD_BYTES,
            gaps="exponential",
            where=f"10.77.0.{len(nodes)}:{5002 + number}",
            file=file,
        )
        for number, (owed, file) in enumerate(zip(discipline.classes, files, strict=True))
    ]
    return onto_one(tasks, lambda folder: [read_probes(folder / file, PACKETS) for file in files], fabric)


def _lateness_ns(probes: Probes, share: float, latency_bytes: float) -> float:
    if probes.lost:
        return np.inf
    order = np.argsort(probes.sequence)
    begin_ns = probes.sent_ns[order[0]]
    sent = (probes.sent_ns[order] - begin_ns).tolist()
    arrived = [float(-(-due // 1)) for due in serialised_ns(((at, MTU_WIRE_BYTES) for at in sent), RATE_BPS)]
    return service_curve_lateness_ns(
        arrived,
        probes.received_ns[order] - begin_ns,
        np.full(PACKETS, MTU_WIRE_BYTES),
        rate_bps=share * RATE_BPS,
        latency_ns=latency_bytes * 8e9 / RATE_BPS,
    )
