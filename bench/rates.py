"""The error of rates and the excess of buckets, beside the kernel's token bucket filter in the same round."""

from collections.abc import Iterator

from bench.figures import Figure, figure
from crosswind.certify.bare import BarePair
from crosswind.certify.flood import IP_BYTES, Flood, flood_bare, flood_fabric, paced_bare
from crosswind.certify.live.rates import ALONE_NS, LIMITS, OVERLOAD, RATES_BPS, SHORT_S, burst_bytes
from crosswind.doctor.quantities import rate_text
from crosswind.stats import arrival_curve_excess
from crosswind.testbed.plain import plain_fabric

# tbf counts the Ethernet header with every packet; of what it is told here, IP bytes remain.
TBF_BYTES = IP_BYTES + 14
DURATION_S = {1_000_000: 1.0}
# Without any bucket: a program that spins for the instant of each packet, and catches up where the machine
# has stood still. One processor sends no more single packets than at this rate.
PACED = "paced by its sender over bare veth"
PACED_BPS_MAX = 1_000_000_000


def rate(rounds: int) -> Iterator[Figure]:
    """Yield the error of every limit at every rate, and the excess of shapers, each beside tbf's."""
    for rate_bps in RATES_BPS:
        duration_s = DURATION_S.get(rate_bps, SHORT_S)
        errors: dict[str, list[float]] = {limit.name: [] for limit in LIMITS} | {"tbf": []}
        excess: dict[str, list[float]] = {"shape": [], "tbf": [], PACED: []}
        for _ in range(rounds):
            for limit in LIMITS:
                offered_bps = OVERLOAD * rate_bps * IP_BYTES / limit.bytes_each
                flood, _ = flood_fabric(limit.fabric(rate_bps), offered_bps, duration_s)
                errors[limit.name].append(_error(flood, limit.bytes_each, rate_bps))
            unmerged = _shape(rate_bps) | {"merge_window_ns": ALONE_NS}
            flood, _ = flood_fabric(unmerged, OVERLOAD * rate_bps, duration_s)
            excess["shape"].append(_excess(flood, IP_BYTES, rate_bps))
            kernel = flood_bare(OVERLOAD * rate_bps, duration_s, lambda pair, bps=rate_bps: _tbf(pair, bps))
            errors["tbf"].append(_error(kernel, TBF_BYTES, rate_bps))
            excess["tbf"].append(_excess(kernel, TBF_BYTES, rate_bps))
            if rate_bps <= PACED_BPS_MAX:
                paced = paced_bare(rate_bps, duration_s)
                excess[PACED].append(_excess(paced, IP_BYTES, rate_bps, burst=IP_BYTES))
        for name, values in errors.items():
            wanted = None if name == "tbf" else "at most 0.001"
            yield figure(f"rate error of {name}, {rate_text(rate_bps)}", "ratio", values, wanted)
        for name, values in excess.items():
            if not values:
                continue
            wanted = f"at most {IP_BYTES}" if name == "shape" else None
            yield figure(
                f"bucket excess over every window, {name} {rate_text(rate_bps)}", "B", values, wanted
            )


def _shape(rate_bps: int) -> dict[str, object]:
    bucket = {"rate_bps": rate_bps, "burst_bytes": burst_bytes(rate_bps), "buffer_bytes": None}
    return plain_fabric(places={"switch.ingress": [{"shape": bucket}]})


def _tbf(pair: BarePair, rate_bps: int) -> None:
    """Put tbf in front of the sender's interface, with a queue for everything that is offered."""
    bucket = ["rate", f"{rate_bps}bit", "burst", str(burst_bytes(rate_bps)), "limit", str(1 << 30)]
    pair.run(0, ["tc", "qdisc", "add", "dev", "eth0", "root", "tbf", *bucket])


def _error(flood: Flood, bytes_each: int, rate_bps: int) -> float:
    return abs(flood.packet_rate() * bytes_each * 8 / rate_bps - 1)


def _excess(flood: Flood, bytes_each: int, rate_bps: int, burst: int | None = None) -> float:
    sizes = flood.ip_bytes + flood.packets * (bytes_each - IP_BYTES)
    burst = burst_bytes(rate_bps) if burst is None else burst
    return arrival_curve_excess(flood.received_ns, sizes, rate_bps=rate_bps, burst_bytes=burst).bytes
