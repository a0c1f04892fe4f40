"""Claims: links with changing capacity follow each change, even in the middle of a packet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.exact import fluid_ns, opportune_ns, wire_bytes
from crosswind.spec.resolved import Parameters
from crosswind.testbed.plain import plain_fabric

FAMILY = "capacity"
PACKETS = 5000
CHANGES = 500
_OPPORTUNITY_BYTES = 1500


def claims() -> Iterator[Claim]:
    """Yield a claim for a rate that changes every few packets, and one for delivery opportunities."""
    draws = np.random.default_rng(5)
    at_ns = draws.exponential(200_000, PACKETS).cumsum().astype(np.int64)
    sizes = draws.integers(40, 1501, PACKETS)
    times_ns = np.concatenate([[0], draws.integers(1, 4_000_000, CHANGES).cumsum()])
    yield _levels(at_ns.tolist(), sizes.tolist(), times_ns.tolist(), draws)
    yield _opportunities(at_ns.tolist(), sizes.tolist(), draws)


def _levels(
    at_ns: Sequence[int], sizes: Sequence[int], times_ns: Sequence[int], draws: np.random.Generator
) -> Claim:
    # One change in ten is an outage; the last level is high enough to send all remaining packets.
    rates = np.where(draws.random(len(times_ns)) < 0.1, 0, draws.integers(10**6, 10**9, len(times_ns)))
    rates_bps = [*rates.tolist()[:-1], 10**9]
    arrivals = [(at, wire_bytes(size)) for at, size in zip(at_ns, sizes, strict=True)]
    process: Parameters = {"levels": {"at_ns": list(times_ns), "rate_bps": list(rates_bps)}}
    return _claim(
        "departures from a link whose rate changes",
        process,
        at_ns,
        sizes,
        list(fluid_ns(arrivals, list(zip(times_ns, rates_bps, strict=True)))),
        "the instant at which the integral of the rate reaches the packet's size, in exact arithmetic",
    )


def _opportunities(at_ns: Sequence[int], sizes: Sequence[int], draws: np.random.Generator) -> Claim:
    # In whole milliseconds, as in Mahimahi's traces; the mean capacity is above the offered load.
    times_ns = np.sort(draws.integers(1, 1_400, 4 * CHANGES)) * 1_000_000
    process: Parameters = {
        "opportunities": {"at_ns": times_ns.tolist(), "ip_bytes": [_OPPORTUNITY_BYTES] * len(times_ns)}
    }
    expected = opportune_ns(list(zip(at_ns, sizes, strict=True)), times_ns.tolist(), _OPPORTUNITY_BYTES)
    return _claim(
        "departures at delivery opportunities",
        process,
        at_ns,
        sizes,
        expected,
        "Mahimahi's rule: 1500 bytes at each opportunity; bytes that an empty queue does not use are lost",
    )


def _claim(
    name: str,
    process: Parameters,
    at_ns: Sequence[int],
    sizes: Sequence[int],
    expected: Sequence[Fraction | int | None],
    because: str,
) -> Claim:
    fabric = plain_fabric(places={"link": [{"capacity": {"process": process, "direction": "up"}}]})
    fates = play(fabric, Packets.of(list(at_ns), list(sizes)))
    late = [
        abs(left - float(due)) if np.isfinite(left) else np.inf
        for left, due in zip(fates.departed_ns.tolist(), expected, strict=True)
        if due is not None
    ]
    # Packets that wait after the last opportunity stay inside.
    inside = sum(due is None for due in expected)
    stayed = int(np.sum(~np.isfinite(fates.departed_ns)))
    details = {"packets": len(at_ns), "inside": stayed}
    worst = max(late) if stayed == inside else np.inf
    return at_most(FAMILY, name, "virtual", worst, 1, "ns", because, details=details)
