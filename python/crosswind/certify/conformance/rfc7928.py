"""Claims: drop policies under the scenarios of RFC 7928 that need no endpoint that reacts.

The RFC characterises active queue management (AQM) and has no pass or fail. Taken are the scenarios whose
outcome is determined: a sender that does not react (5.3), a burst into an idle link (7), a capacity that
alternates (8.2.6), and packets of several sizes (4.4). The rest characterises TCP together with the AQM.

Source: RFC 7928, sections 2, 4.4, 5.3, 7 and 8.2.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Fates, Packets, play
from crosswind.certify.virtual.exact import wire_bytes
from crosswind.spec import FabricSpec
from crosswind.spec.resolved import Parameters
from crosswind.testbed.plain import plain_fabric

FAMILY = "RFC 7928"
MS_NS, S_NS = 1_000_000, 1_000_000_000
FULL_BITS = wire_bytes(1500) * 8
# Policies with the parameters that their sources propose. RED has them for 10 Mbit/s: 5 and 15 packets, 10 %.
POLICIES: Mapping[str, str | Parameters] = {
    "tail": "tail",
    "red": {
        "red": {
            "min_bytes": 7690,
            "max_bytes": 23_070,
            "probability_ppb": 100_000_000,
            "weight_ppb": 2_000_000,
        }
    },
    "codel": {"codel": {"target_ns": 5 * MS_NS, "interval_ns": 100 * MS_NS}},
    "pie": {"pie": {"target_ns": 15 * MS_NS, "burst_ns": 150 * MS_NS}},
}
RATE_BPS, BUFFER_NS = 10_000_000, 100 * MS_NS
OVERLOAD = 1.25
UNRESPONSIVE_S = 30
# A policy that decides at random, or oscillates, is far nearer in 15 s.
LOSS_ERROR_MAX = 0.01
# Initial window of TCP (RFC 6928): packets at once, each time into an idle link.
BURST_PACKETS, BURSTS, BURST_GAP_NS = 10, 100, 200 * MS_NS
# Phases of 20 s, here of a tenth; and phases of 100 ms.
VARYING_BPS = (100_000_000, 10_000_000)
VARYING = (("experiment 1, a tenth of 20 s", 2 * S_NS, 4), ("experiment 2, 100 ms", 100 * MS_NS, 40))
SIZES, SIZED_PACKETS = (100, 600, 1500), 60_000
# Five standard deviations of the difference of two shares of 20 000 packets each, at a share of 20 %.
SHARES_DIFFER_MAX = 5 * (2 * 0.2 * 0.8 / 20_000) ** 0.5


def claims() -> Iterator[Claim]:
    """Yield the claims on an unresponsive sender, bursts, a capacity that alternates, and sizes."""
    tail_ns = float(np.median(_waits_ns(_unresponsive("tail"))))
    for name in POLICIES:
        yield from _under_constant_load(name, tail_ns)
    for name in POLICIES:
        yield _burst(name)
    for experiment, phase_ns, phases in VARYING:
        yield _varying(experiment, phase_ns, phases)
    for name in ("red", "codel", "pie"):
        yield _sizes(name)


def _under_constant_load(name: str, tail_ns: float) -> Iterator[Claim]:
    fates = _unresponsive(name)
    late = _second_half(fates)
    loss = float(np.mean(~np.isfinite(fates.departed_ns[late])))
    yield at_most(
        FAMILY,
        f"{name}, an unresponsive sender at 125 % of the capacity: error of the packet loss",
        "virtual",
        abs(loss - (1 - 1 / OVERLOAD)),
        LOSS_ERROR_MAX,
        "ratio",
        "sections 5.3, 2.3 and 2.5: the link stays full, so goodput is the capacity and the rest is lost",
        details={"loss": loss},
    )
    if name != "tail":
        wait_ns = float(np.median(_waits_ns(fates)))
        yield at_most(
            FAMILY,
            f"{name}, an unresponsive sender at 125 % of the capacity: median queueing delay",
            "virtual",
            wait_ns,
            tail_ns,
            "ns",
            "sections 5.3, 2.6 and 4.3: queueing delay, compared with tail drop at the same buffer (100 ms)",
            details={"tail_drop_ns": tail_ns},
        )


def _burst(name: str) -> Claim:
    at_ns = np.repeat(np.arange(BURSTS) * BURST_GAP_NS, BURST_PACKETS)
    fates = play(_fabric(POLICIES[name]), Packets.of(at_ns))
    return at_most(
        FAMILY,
        f"{name}, {BURSTS} bursts of {BURST_PACKETS} packets into an idle link: packets lost",
        "virtual",
        int(np.sum(~np.isfinite(fates.departed_ns))),
        0,
        "packets",
        "section 7: a burst of an initial window is absorbed",
    )


def _varying(experiment: str, phase_ns: int, phases: int) -> Claim:
    begins_ns = [number * phase_ns for number in range(phases)]
    rates_bps = [VARYING_BPS[number % 2] for number in range(phases)]
    process: Parameters = {"levels": {"at_ns": [*begins_ns], "rate_bps": [*rates_bps]}}
    packets = _constant(OVERLOAD * max(VARYING_BPS), phases * phase_ns / S_NS)
    left_ns = play(_fabric("tail", process), packets).departed_ns
    errors = [
        abs(np.sum((left_ns > begin) & (left_ns <= begin + phase_ns)) - rate * phase_ns / 1e9 / FULL_BITS)
        for begin, rate in zip(begins_ns, rates_bps, strict=True)
    ]
    return at_most(
        FAMILY,
        f"varying capacity, {experiment}: largest error of a phase in what the bottleneck carries",
        "virtual",
        float(max(errors)),
        1,
        "of a packet",
        "section 8.2.6: phases of 100 and 10 Mbit/s in turn; whole packets",
        details={"phases": phases},
    )


def _sizes(name: str) -> Claim:
    rng = np.random.default_rng(12)
    sizes = rng.choice(SIZES, SIZED_PACKETS)
    mean_bits = float(np.mean([wire_bytes(size) * 8 for size in SIZES]))
    gaps_ns = rng.exponential(mean_bits * 1e9 / (OVERLOAD * RATE_BPS), SIZED_PACKETS)
    packets = Packets.of(gaps_ns.cumsum().astype(np.int64), sizes)
    fates = play(_fabric(POLICIES[name]), packets)
    # Whether a full buffer has room depends on the size; the policy decides about the others.
    admitted = np.ones(len(packets), dtype=np.bool_)
    admitted[fates.packet[fates.fate == "queue-full"]] = False
    lost = ~np.isfinite(fates.departed_ns)
    shares = {size: float(np.mean(lost[admitted & (packets.ip_bytes == size)])) for size in SIZES}
    return at_most(
        FAMILY,
        f"{name}, packets of {', '.join(map(str, SIZES))} bytes: largest difference of their early drops",
        "virtual",
        max(shares.values()) - min(shares.values()),
        SHARES_DIFFER_MAX,
        "ratio",
        "section 4.4 and RFC 7567, 4.4: a packet's size has no influence; five standard deviations",
        details={f"dropped_{size}_bytes": share for size, share in shares.items()},
    )


def _unresponsive(name: str) -> Fates:
    return play(_fabric(POLICIES[name]), _constant(OVERLOAD * RATE_BPS, UNRESPONSIVE_S))


def _second_half(fates: Fates) -> NDArray[np.bool_]:
    return fates.sent.at_ns >= UNRESPONSIVE_S * S_NS // 2


def _waits_ns(fates: Fates) -> NDArray[np.float64]:
    """Return how long the packets of the second half waited before they were sent."""
    waits = (fates.departed_ns - fates.sent.at_ns - FULL_BITS * 1e9 / RATE_BPS)[_second_half(fates)]
    return waits[np.isfinite(waits)]


def _constant(rate_bps: float, duration_s: float) -> Packets:
    return Packets.of(np.arange(0, duration_s * S_NS, FULL_BITS * 1e9 / rate_bps).astype(np.int64))


def _fabric(policy: str | Parameters, process: Parameters | None = None) -> FabricSpec:
    """Return two hosts with a bottleneck between them: the first one's uplink, with this policy."""
    levels: Parameters = {"levels": {"at_ns": [0], "rate_bps": [RATE_BPS]}}
    capacity: Parameters = {"process": process or levels, "direction": "up", "on": ["h0"]}
    return plain_fabric(
        buffer_bytes=RATE_BPS * BUFFER_NS // (8 * S_NS),
        places={
            "host.egress": [{"queue": {"drop": policy, "on": ["h0"]}}],
            "link": [{"capacity": capacity}],
        },
    )
