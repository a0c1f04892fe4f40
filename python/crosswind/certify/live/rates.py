"""Claims: links and shapers have their rate, 1 Mbit/s to 5 Gbit/s, and buckets never exceed their curve.

The offered load is 1.25, so that packets always wait and a stall of the sender has no effect. Rates are
measured with the receiver's time stamps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.quiet import Tried, Tries, Watch
from crosswind.curves import arrival_curve_excess
from crosswind.probe.flood import IP_BYTES, WIRE_BYTES, Flood, flood_fabric
from crosswind.results import Measurement
from crosswind.spec import FabricSpec
from crosswind.spec.resolved import Parameters, SentElement
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text, time_text

RATES = "rates"
BUCKETS = "buckets"
RATES_BPS = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 5_000_000_000)
# At higher rates a packet takes 12 us or less, and a machine like this is sometimes later than that.
BUCKETS_BPS = (10_000_000, 100_000_000)
OVERLOAD = 1.25
# Packets that are merged would all be as late as the first one; with 1 ns only late packets are merged.
ALONE_NS = 1
ERROR_MAX = 1e-3
# Long enough that lateness at both ends is 1/10 000 of it, and for 80 packets at 1 Mbit/s.
DURATION_S = {1_000_000: 1.0}
SHORT_S = 0.5


@dataclass(frozen=True)
class RateLimit:
    """An element that limits the rate, and the bytes that it counts for a packet."""

    name: str
    bytes_each: int

    def fabric(self, rate_bps: int) -> FabricSpec:
        """Return a fabric without other limits, whose buffer holds all offered packets."""
        if self.name == "link":
            return plain_fabric(rate_bps=rate_bps)
        return _with(
            {"shape": {"rate_bps": rate_bps, "burst_bytes": burst_bytes(rate_bps), "buffer_bytes": None}}
        )


LIMITS = (RateLimit("link", WIRE_BYTES), RateLimit("shape", IP_BYTES))


def burst_bytes(rate_bps: int) -> int:
    """Return the bytes of 5 ms at the rate, at least two packets: used up in the first fifth of a flood."""
    return max(2 * IP_BYTES, rate_bps // 1600)


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield the rate of each limit at each rate, and the excess of each bucket."""
    for rate_bps in RATES_BPS:
        for limit in LIMITS:
            yield _rate(tries, limit, rate_bps)
    for rate_bps in BUCKETS_BPS:
        yield _excess(tries, "police", {"rate_bps": rate_bps, "burst_bytes": burst_bytes(rate_bps)}, rate_bps)
        yield _excess(
            tries,
            "shape",
            {"rate_bps": rate_bps, "burst_bytes": burst_bytes(rate_bps), "buffer_bytes": None},
            rate_bps,
        )


def _rate(tries: Tries, limit: RateLimit, rate_bps: int) -> Claim:
    offered_s = DURATION_S.get(rate_bps, SHORT_S)
    ip_rate_bps = OVERLOAD * rate_bps * IP_BYTES / limit.bytes_each
    tried = _flood(tries, f"rate of {limit.name}", limit.fabric(rate_bps), ip_rate_bps, offered_s)
    flood, _ = tried.result
    measured_bps = flood.packet_rate() * limit.bytes_each * 8
    disturbed = tried.disturbed
    # If the sender offered the load, its packets take a quarter longer to arrive.
    if flood.span_s < offered_s * (1 + (OVERLOAD - 1) / 2):
        disturbed = disturbed or f"the sender offered no more than {rate_text(measured_bps)}"
    return at_most(
        RATES,
        f"{limit.name} of {rate_text(rate_bps)}: error of its rate",
        "live",
        abs(measured_bps / rate_bps - 1),
        ERROR_MAX,
        "ratio",
        "0.1 %, by the receiver's time stamps of packets of 1500 bytes",
        disturbed=disturbed,
        details={"measured_bps": measured_bps, "packets": int(flood.packets.sum()), "over_s": flood.span_s},
    )


def _excess(tries: Tries, kind: str, parameters: Parameters, rate_bps: int) -> Claim:
    fabric = _with({kind: parameters}).with_changes(merge_window_ns=ALONE_NS)
    tried = _flood(tries, f"bursts of {kind}", fabric, OVERLOAD * rate_bps, SHORT_S)
    flood, measurement = tried.result
    excess = arrival_curve_excess(
        flood.received_ns, flood.ip_bytes, rate_bps=rate_bps, burst_bytes=burst_bytes(rate_bps)
    )
    late_ns = measurement.ledger.error_ns["max"] or 0
    late_bytes = late_ns * rate_bps / 8e9
    disturbed = tried.disturbed
    if late_bytes > IP_BYTES / 2:
        disturbed = disturbed or (
            f"the ledger has a packet {time_text(late_ns)} late, which is {late_bytes:.0f} B at this rate; "
            "run it on a quiet machine"
        )
    return at_most(
        BUCKETS,
        f"{kind} {rate_text(rate_bps)}: excess over every window",
        "live",
        excess.bytes,
        IP_BYTES,
        "B",
        "one packet of 1500 bytes above the token bucket's arrival curve",
        disturbed=disturbed,
        details={"packets": int(flood.packets.sum()), "ledger_ns_max": late_ns},
    )


def _flood(
    tries: Tries, of: str, fabric: FabricSpec, ip_rate_bps: float, duration_s: float
) -> Tried[tuple[Flood, Measurement]]:
    def once(watch: Watch) -> tuple[Flood, Measurement]:
        flood, measurement = flood_fabric(fabric, ip_rate_bps, duration_s)
        watch.judge(measurement)
        return flood, measurement

    return tries.measure(of, once)


def _with(element: SentElement) -> FabricSpec:
    return plain_fabric(places={"switch.ingress": [element]})
