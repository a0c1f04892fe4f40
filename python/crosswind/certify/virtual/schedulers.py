"""Claims: schedulers give every class its service curve, while the other classes overload the link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import JsonValue

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.exact import serialised_ns, wire_bytes
from crosswind.curves import service_curve_lateness_ns
from crosswind.spec.resolved import Parameters
from crosswind.testbed.plain import plain_fabric

FAMILY = "schedulers"
RATE_BPS = 100_000_000
MTU_WIRE_BYTES = 1538
PACKETS = 1500  # Of each class.
# Instants are rounded up to whole ns: on the uplink, at the scheduled link, and in this sum.
ROUNDING_NS = 3


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a class: a share of the link, after the time of `latency_bytes` at the link's rate."""

    dscp: int
    load: float  # Offered by the class, as a share of the link; each class has a host of its own.
    share: float
    latency_bytes: float


@dataclass(frozen=True)
class Discipline:
    """A scheduler, the sizes of its packets, and the guarantees of its classes."""

    name: str
    schedule: Parameters
    sizes: tuple[int, int]  # IP bytes, drawn evenly from this range.
    classes: Sequence[Guarantee]
    because: str


def _queues(*weights: int | None) -> list[JsonValue]:
    code_points: list[list[JsonValue]] = [[46], [26]]
    classes = [*code_points[: len(weights) - 1], None]
    return [{"dscp": dscp, "weight": weight} for dscp, weight in zip(classes, weights, strict=True)]


def _drr_latency_bytes(weights: Sequence[int], own: int) -> float:
    frame = sum(weights) * MTU_WIRE_BYTES
    return 3 * frame - 2 * own * MTU_WIRE_BYTES


DISCIPLINES = (
    Discipline(
        "strict",
        {"by": "strict", "queues": _queues(None, None)},
        (40, 1500),
        # It waits for the packet that is already on the wire, and then has the link for itself.
        (Guarantee(46, 0.5, 1.0, MTU_WIRE_BYTES), Guarantee(0, 0.95, 0.4, np.inf)),
        "non-preemptive priority: the link's rate after one largest packet",
    ),
    Discipline(
        "wrr 3:1",
        {"by": "wrr", "queues": _queues(3, 1)},
        (1500, 1500),
        (Guarantee(46, 0.95, 3 / 4, MTU_WIRE_BYTES), Guarantee(0, 0.95, 1 / 4, 3 * MTU_WIRE_BYTES)),
        "packets of one size: its share of the link after the turns of the other classes",
    ),
    Discipline(
        "drr 4:2:1",
        {"by": "drr", "queues": _queues(4, 2, 1)},
        (40, 1500),
        tuple(
            Guarantee(dscp, 0.95, weight / 7, _drr_latency_bytes((4, 2, 1), weight))
            for dscp, weight in ((46, 4), (26, 2), (0, 1))
        ),
        "latency-rate server of deficit round robin, (3 F - 2 quantum) / rate (Stiliadis and Varma 1998)",
    ),
    Discipline(
        "stfq 4:2:1",
        {"by": "stfq", "queues": _queues(4, 2, 1)},
        (40, 1500),
        tuple(
            Guarantee(dscp, 0.95, weight / 7, 2 * MTU_WIRE_BYTES)
            for dscp, weight in ((46, 4), (26, 2), (0, 1))
        ),
        "start-time fair queueing: one largest packet of each other class (Goyal, Vin and Cheng 1996)",
    ),
)


def claims() -> Iterator[Claim]:
    """Yield a claim for every class of every discipline that has a guarantee with a bounded latency."""
    for discipline in DISCIPLINES:
        yield from _claims(discipline)


def _claims(discipline: Discipline) -> Iterator[Claim]:
    rng = np.random.default_rng(5)
    receiver = len(discipline.classes)
    sent = []
    for source, owed in enumerate(discipline.classes):
        low, high = discipline.sizes
        sizes = rng.integers(low, high + 1, PACKETS)
        wires = np.array([wire_bytes(int(size)) for size in sizes])
        gaps = rng.exponential(wires.mean() * 8e9 / RATE_BPS / owed.load, PACKETS)
        sent.append((np.cumsum(gaps).astype(np.int64), sizes, wires, owed, source))
    packets = Packets.of(
        np.concatenate([at for at, *_ in sent]),
        np.concatenate([sizes for _, sizes, *_ in sent]),
        dscp=np.repeat([owed.dscp for owed in discipline.classes], PACKETS),
        source=np.repeat(np.arange(receiver), PACKETS),
        destination=receiver,
    )
    fabric = plain_fabric(
        [f"n{number}" for number in range(receiver + 1)],
        rate_bps=RATE_BPS,
        places={"switch.egress": [{"schedule": {**discipline.schedule, "on": [f"h{receiver}"]}}]},
    )
    left = play(fabric, packets).departed_ns
    for at, _, wires, owed, source in sent:
        if not np.isfinite(owed.latency_bytes):
            continue  # A class below strict priority has no bounded latency.
        # Packets reach the switch as they leave the sender's own uplink.
        arrived = [
            float(-(-due // 1))
            for due in serialised_ns(zip(at.tolist(), wires.tolist(), strict=True), RATE_BPS)
        ]
        late = service_curve_lateness_ns(
            arrived,
            left[packets.source == source],
            wires,
            rate_bps=owed.share * RATE_BPS,
            latency_ns=owed.latency_bytes * 8e9 / RATE_BPS,
        )
        yield at_most(
            FAMILY,
            f"{discipline.name}: class {owed.dscp} against its service curve",
            "virtual",
            late,
            ROUNDING_NS,
            "ns",
            discipline.because,
            details={"packets": PACKETS, "share": owed.share},
        )
