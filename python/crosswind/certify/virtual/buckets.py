"""Claims: token buckets and meters pass exactly their arrival curve, no more and no less."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.exact import policed, shaped_ns
from crosswind.curves import arrival_curve_excess
from crosswind.spec.resolved import Parameters, SentElement
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text

FAMILY = "buckets"
PACKETS = 5000
PACKET_BYTES_MAX = 1500
BURST_BYTES = 30_000
RATES_BPS = (1_000_000, 100_000_000, 5_000_000_000)
# The error of this check itself, which uses doubles: 10^7 bytes to within 10^-9 bytes, summed 10^4 times.
FLOAT_BYTES = 1e-3


def claims() -> Iterator[Claim]:
    """Yield claims for policers, shapers and meters at several rates, with an offered load of 1.5."""
    for rate_bps in RATES_BPS:
        sizes = np.random.default_rng(3).integers(40, PACKET_BYTES_MAX + 1, PACKETS)
        gap_ns = float(sizes.mean()) * 8e9 / rate_bps / 1.5
        at = np.random.default_rng(4).exponential(gap_ns, PACKETS).cumsum().astype(np.int64)
        yield from _police(Packets.of(at, sizes), rate_bps)
        yield from _shape(Packets.of(at, sizes), rate_bps)
        yield from _meter(Packets.of(at, sizes), rate_bps)


def _police(packets: Packets, rate_bps: int) -> Iterator[Claim]:
    element = {"police": {"rate_bps": rate_bps, "burst_bytes": BURST_BYTES}}
    passed = np.isfinite(play(plain_fabric(places={"switch.ingress": [element]}), packets).departed_ns)
    named = f"police {rate_text(rate_bps)}"
    excess = arrival_curve_excess(
        packets.at_ns[passed], packets.ip_bytes[passed], rate_bps=rate_bps, burst_bytes=BURST_BYTES
    )
    yield at_most(
        FAMILY,
        f"{named}: excess over every window",
        "virtual",
        excess.bytes,
        FLOAT_BYTES,
        "B",
        "the token bucket's arrival curve (Le Boudec and Thiran, 1.2); the bucket counts in whole numbers",
        details={"packets": len(packets), "passed": int(passed.sum())},
    )
    exact = policed(_rows(packets), rate_bps, BURST_BYTES)
    yield at_most(
        FAMILY,
        f"{named}: decisions that differ from an exact bucket",
        "virtual",
        sum(one != other for one, other in zip(passed.tolist(), exact, strict=True)),
        0,
        "packets",
        "a token bucket in exact arithmetic",
    )


def _shape(packets: Packets, rate_bps: int) -> Iterator[Claim]:
    element = {"shape": {"rate_bps": rate_bps, "burst_bytes": BURST_BYTES, "buffer_bytes": None}}
    left = play(plain_fabric(places={"switch.ingress": [element]}), packets).departed_ns
    named = f"shape {rate_text(rate_bps)}"
    whole = left[np.isfinite(left)].astype(np.int64)
    excess = arrival_curve_excess(
        whole, packets.ip_bytes[np.isfinite(left)], rate_bps=rate_bps, burst_bytes=BURST_BYTES
    )
    yield at_most(
        FAMILY,
        f"{named}: excess over every window",
        "virtual",
        excess.bytes,
        rate_bps / 8e9 + FLOAT_BYTES,
        "B",
        "the bytes of one nanosecond at the rate, because instants are rounded up",
        details={"packets": len(packets)},
    )
    exact = shaped_ns(_rows(packets), rate_bps, BURST_BYTES)
    yield at_most(
        FAMILY,
        f"{named}: departures against an exact bucket",
        "virtual",
        max(abs(one - float(other)) for one, other in zip(left.tolist(), exact, strict=True)),
        1,
        "ns",
        "a token bucket in exact arithmetic; instants are whole nanoseconds, rounded up",
    )


def _meter(packets: Packets, rate_bps: int) -> Iterator[Claim]:
    """Yield claims on the packets that a meter colours green, and on those it colours green or yellow."""
    committed: Parameters = {"cir_bps": rate_bps, "cbs_bytes": BURST_BYTES}
    single: SentElement = {"srtcm": {**committed, "ebs_bytes": 2 * BURST_BYTES}}
    # Half of the rate is committed, so that some packets are always yellow.
    half: Parameters = {"cir_bps": rate_bps // 2, "cbs_bytes": BURST_BYTES}
    double: SentElement = {"trtcm": {**half, "pir_bps": rate_bps, "pbs_bytes": 2 * BURST_BYTES}}
    green, both = "green", "green and yellow"
    yield from _coloured(packets, single, green, rate_bps, [BURST_BYTES])
    # The yellow bucket gets the overflow of the green one: together they have one rate and two bursts.
    yield from _coloured(packets, single, both, rate_bps, [BURST_BYTES, 2 * BURST_BYTES])
    yield from _coloured(packets, double, green, rate_bps // 2, [BURST_BYTES])
    yield from _coloured(packets, double, both, rate_bps, [2 * BURST_BYTES])


def _coloured(
    packets: Packets, meter: SentElement, colours: str, rate_bps: int, bursts_bytes: list[int]
) -> Iterator[Claim]:
    """Yield claims that packets of these colours neither exceed their curve nor fall short of it."""
    ((kind, parameters),) = meter.items()
    element = {kind: {**parameters, "yellow": "pass" if "yellow" in colours else "drop", "red": "drop"}}
    passed = np.isfinite(play(plain_fabric(places={"switch.ingress": [element]}), packets).departed_ns)
    excess = arrival_curve_excess(
        packets.at_ns[passed], packets.ip_bytes[passed], rate_bps=rate_bps, burst_bytes=sum(bursts_bytes)
    )
    named = f"{kind}, {colours} {rate_text(rate_bps)}"
    details = {"packets": len(packets), "passed": int(passed.sum())}
    yield at_most(
        FAMILY,
        f"{named}: excess over every window",
        "virtual",
        excess.bytes,
        FLOAT_BYTES,
        "B",
        "the arrival curve of the meter's buckets (RFC 2697 and 2698, section 3)",
        details=details,
    )
    yield at_most(
        FAMILY,
        f"{named}: smallest distance below the curve",
        "virtual",
        -excess.bytes,
        len(bursts_bytes) * PACKET_BYTES_MAX,
        "B",
        "the load is higher, so each bucket was full once and later too empty for a packet",
        details=details,
    )


def _rows(packets: Packets) -> Iterator[tuple[int, int]]:
    return zip(packets.at_ns.tolist(), packets.ip_bytes.tolist(), strict=True)
