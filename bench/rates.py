"""The error of rates and the excess of buckets, beside the kernel's token bucket filter in the same round."""

from collections.abc import Iterator
from math import ceil
from statistics import median

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure, figure
from crosswind.certify.live.rates import ALONE_NS, LIMITS, OVERLOAD, RATES_BPS, SHORT_S, burst_bytes
from crosswind.curves import window_excesses
from crosswind.probe.bare import BarePair
from crosswind.probe.flood import IP_BYTES, Flood, flood_bare, flood_fabric, paced_bare
from crosswind.spec import FabricSpec
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text

# tbf counts the Ethernet header of every packet, so its parameters include it.
TBF_BYTES = IP_BYTES + 14
DURATION_S = {1_000_000: 1.0}
# Without a bucket: a program that spins until the instant of each packet, and catches up after a stall.
PACED = "paced by its sender over bare veth"
# Twice what a system call that sends takes: where a packet lasts less, the program sends several in a call.
CALL_S = 5e-6


def rate(rounds: int) -> Iterator[Figure]:
    """Yield the error of every limit at every rate, and the excess of shapers, each beside tbf's."""
    for rate_bps in RATES_BPS:
        duration_s, burst = DURATION_S.get(rate_bps, SHORT_S), burst_bytes(rate_bps)
        errors: dict[str, list[float]] = {name: [] for name in (*(limit.name for limit in LIMITS), "tbf")}
        excess: dict[str, list[float]] = {"shape": [], "tbf": [], PACED: []}
        for _ in range(rounds):
            for limit in LIMITS:
                offered_bps = OVERLOAD * rate_bps * IP_BYTES / limit.bytes_each
                flood, _ = flood_fabric(limit.fabric(rate_bps), offered_bps, duration_s)
                errors[limit.name].append(abs(rate_error(flood, limit.bytes_each, rate_bps)))
            flood, _ = flood_fabric(bucket(rate_bps, burst), OVERLOAD * rate_bps, duration_s)
            excess["shape"].append(excesses(flood, IP_BYTES, rate_bps, burst).max())
            kernel = flood_tbf(rate_bps, burst, duration_s)
            errors["tbf"].append(abs(rate_error(kernel, TBF_BYTES, rate_bps)))
            excess["tbf"].append(excesses(kernel, TBF_BYTES, rate_bps, burst).max())
            train = paced_train(rate_bps)
            paced = paced_bare(rate_bps, duration_s, train)
            excess[PACED].append(excesses(paced, IP_BYTES, rate_bps, train * IP_BYTES).max())
        for name, values in errors.items():
            wanted = None if name == "tbf" else "at most 0.1"
            percent = [100 * value for value in values]
            yield figure(f"rate error of {name}, {rate_text(rate_bps)}", "%", percent, wanted)
        for name, values in excess.items():
            yield figure(
                f"bucket excess over every window, {name} {rate_text(rate_bps)}",
                "B",
                values,
                f"at most {IP_BYTES}" if name == "shape" else None,
                late_us=round(median(values) * 8e6 / rate_bps, 2),
            )


def bucket(rate_bps: int, burst: int) -> FabricSpec:
    """Return a fabric with a token bucket in it, whose packets leave alone; `burst` in bytes."""
    shape = {"rate_bps": rate_bps, "burst_bytes": burst, "buffer_bytes": None}
    return plain_fabric(places={"switch.ingress": [{"shape": shape}]}).with_changes(merge_window_ns=ALONE_NS)


def flood_tbf(rate_bps: int, burst: int, duration_s: float) -> Flood:
    """Send more than the rate through tbf on the sender's interface, which holds all that is offered."""

    def put(pair: BarePair) -> None:
        words = ["rate", f"{rate_bps}bit", "burst", str(burst), "limit", str(1 << 30)]
        pair.run(0, ["tc", "qdisc", "add", "dev", "eth0", "root", "tbf", *words])

    return flood_bare(OVERLOAD * rate_bps, duration_s, put)


def paced_train(rate_bps: int) -> int:
    """Return how many packets a program sends in a call that keeps this rate: one, up to 2.4 Gbit/s."""
    return max(1, ceil(rate_bps * CALL_S / (8 * IP_BYTES)))


def rate_error(flood: Flood, bytes_each: int, rate_bps: int) -> float:
    """Return by what share of the rate the flood passed faster than it."""
    return flood.packet_rate() * bytes_each * 8 / rate_bps - 1


def excesses(flood: Flood, bytes_each: int, rate_bps: int, burst: int) -> NDArray[np.float64]:
    """Return the largest excess in bytes over all windows from each call on.

    The bucket counts `bytes_each` of a packet and holds `burst`.
    """
    sizes = flood.ip_bytes + flood.packets * (bytes_each - IP_BYTES)
    return window_excesses(flood.received_ns, sizes, rate_bps=rate_bps, burst_bytes=burst)
