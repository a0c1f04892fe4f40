"""Claims: credit buckets last as long as their budget, and pacers send no packet too early."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.exact import credited_ns
from crosswind.curves import arrival_curve_excess
from crosswind.spec.resolved import Parameters, SentElement
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text

FAMILY = "credits"
PACKET_BITS = 12_000
# The bucket that NSDI '20 measured at Amazon EC2, with 1/100 000 of the budget. At these rates full packets
# take whole nanoseconds, so an exact model has the same instants as the engine.
HIGH_BPS, LOW_BPS, REFILL_BPS = 10_000_000_000, 1_000_000_000, 1_000_000_000
BUDGET_BITS = 54_000_000
# The emulator of the same study, with everything but time divided by 1000.
STUDY = {"budget_bits": 10**10, "high_bps": 10_500_000, "low_bps": 1_400_000, "refill_bps": 990_000}
STUDY_LOOP: Parameters = {"interval_ns": 10**9, "reopen_bits": 2_000_000}
STUDY_LEFT_BITS = 10_000_000


def claims() -> Iterator[Claim]:
    """Yield claims on credit buckets, exact and as in the study's emulator, and on pacers."""
    yield from _drained()
    yield from _on_and_off()
    yield _as_deployed()
    for rate_bps in (1_000_000, 5_000_000_000):
        yield _paced(rate_bps)


def _credit(**more: JsonValue) -> SentElement:
    exact: Parameters = {
        "budget_bits": BUDGET_BITS,
        "initial_bits": BUDGET_BITS,
        "high_bps": HIGH_BPS,
        "low_bps": LOW_BPS,
        "refill_bps": REFILL_BPS,
        "buffer_bytes": None,
    }
    return {"credit": {**exact, **more}}


def _left(element: SentElement, packets: Packets) -> NDArray[np.float64]:
    return play(plain_fabric(places={"host.egress": [element]}), packets).departed_ns


def _drained() -> Iterator[Claim]:
    """Yield claims on a backlog that empties a full bucket and then leaves at the low rate."""
    packets = BUDGET_BITS // PACKET_BITS + 1000
    left = _left(_credit(), Packets.of(np.zeros(packets)))
    gaps = np.diff(left)
    high_gap_ns = PACKET_BITS * 1e9 / HIGH_BPS
    empty = int(np.argmax(gaps > high_gap_ns))  # The first packet that found too few credits.
    yield at_most(
        FAMILY,
        "credit: time until a full bucket is empty, against budget / (high - refill)",
        "virtual",
        abs(float(left[empty]) - BUDGET_BITS * 1e9 / (HIGH_BPS - REFILL_BPS)),
        PACKET_BITS * 1e9 / (HIGH_BPS - REFILL_BPS) + high_gap_ns,
        "ns",
        "the fluid bucket; the difference is at most one packet and one gap",
        details={"lasted_ns": float(left[empty])},
    )
    yield at_most(
        FAMILY,
        "credit: gaps after the bucket is empty, against the low rate",
        "virtual",
        float(np.abs(gaps[empty:] - PACKET_BITS * 1e9 / LOW_BPS).max()),
        0,
        "ns",
        "a full packet takes whole nanoseconds",
    )


def _on_and_off() -> Iterator[Claim]:
    """Yield claims on sending for 10 ms and resting for 30 ms, three times."""
    burst = np.arange(10_000_000 * HIGH_BPS // (PACKET_BITS * 10**9)) * (PACKET_BITS * 10**9 // HIGH_BPS)
    at = np.concatenate([burst + 40_000_000 * turn for turn in range(3)])
    exact = credited_ns(at.tolist(), PACKET_BITS, BUDGET_BITS, (HIGH_BPS, LOW_BPS, REFILL_BPS))
    left = _left(_credit(), Packets.of(at))
    yield at_most(
        FAMILY,
        "credit: departures when sending and resting, against an exact bucket",
        "virtual",
        max(abs(one - float(other)) for one, other in zip(left.tolist(), exact, strict=True)),
        0,
        "ns",
        "db/dt = refill - sent, 0 <= b <= budget, in exact arithmetic",
    )
    # The low rate equals the refill, so only the budget can exceed it.
    for curve, rate_bps, burst_bits in (("budget", REFILL_BPS, BUDGET_BITS), ("high rate", HIGH_BPS, 0)):
        excess = arrival_curve_excess(
            left.astype(np.int64),
            np.full(len(left), PACKET_BITS // 8),
            rate_bps=rate_bps,
            burst_bytes=burst_bits // 8,
        )
        yield at_most(
            FAMILY,
            f"credit: excess over every window, by the {curve}",
            "virtual",
            excess.bytes,
            PACKET_BITS / 8 + 1e-3,
            "B",
            "the fluid bucket's arrival curve; the window includes all of the packet that leaves at its end",
            details={"packets": len(left)},
        )


def _as_deployed() -> Claim:
    left = _left(_credit(**STUDY, initial_bits=STUDY_LEFT_BITS, loop=STUDY_LOOP), Packets.of(np.zeros(3000)))
    high_gap_ns = PACKET_BITS * 1e9 / STUDY["high_bps"]
    bits = PACKET_BITS * int((np.diff(left) <= high_gap_ns + 1).sum())
    return at_most(
        FAMILY,
        "credit with a loop: bits at the high rate, against two whole intervals",
        "virtual",
        abs(bits - 2.0 * STUDY["high_bps"]),
        2.0 * PACKET_BITS,
        "bit",
        "the published loop forgives the overdraft: 21 Mbit, not a bucket's 11.04; one packet at each end",
        details={"at_high_bits": float(bits)},
    )


def _paced(rate_bps: int) -> Claim:
    sizes = np.random.default_rng(5).integers(40, 1501, 5000)
    gap_ns = float(sizes.mean()) * 8e9 / rate_bps / 1.2
    at = np.random.default_rng(6).exponential(gap_ns, len(sizes)).cumsum().astype(np.int64)
    left = _left({"pace": {"rate_bps": rate_bps, "horizon_ns": 10**12}}, Packets.of(at, sizes))
    excess = arrival_curve_excess(
        left.astype(np.int64), sizes, rate_bps=rate_bps, burst_bytes=int(sizes.max())
    )
    return at_most(
        FAMILY,
        f"pace {rate_text(rate_bps)}: excess over every window beyond one packet",
        "virtual",
        excess.bytes,
        rate_bps / 8e9 + 1e-3,
        "B",
        "the bytes of one nanosecond at the rate, because instants are rounded up",
        details={"packets": len(sizes)},
    )
