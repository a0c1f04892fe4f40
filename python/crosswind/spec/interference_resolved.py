"""Interference of a resolved condition: SI integers, scaled, one entry for each pair of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from crosswind.spec.interference import Interference, NormalLaw, OnOffArrivals, ReplayArrivals
from crosswind.spec.network import Network
from crosswind.spec.quantities import Intensity
from crosswind.spec.replay import replayed
from crosswind.spec.resolved import (
    ConstantRate,
    InterferenceTcp,
    NormalRate,
    NormalRates,
    OnOffTimes,
    ResolvedInterference,
    SentOnOff,
    SentReplay,
)
from crosswind.spec.scale import scaled
from crosswind.spec.topology import AnyTopology


def resolve_interference(
    entry: Interference, topology: AnyTopology, network: Network, scale: float
) -> Iterator[ResolvedInterference]:
    """Yield one entry of the resolved condition for every pair of hosts, all defaults written out."""
    for first, second in entry.between:
        yield ResolvedInterference(
            between=[first, second],
            by=entry.by,
            rate=_rate(entry, network.slowest_bps([first, second]), scale),
            hold_ns=entry.hold_ns,
            pacing_ns=entry.pacing_ns,
            arrivals=_arrivals(entry.arrivals, topology.mtu_bytes, scale),
            packet_ip_bytes=entry.packet_ip_bytes or topology.mtu_bytes,
            dscp=entry.dscp,
            zero=entry.zero,
            tcp=_tcp(entry, topology),
        )


def _rate(entry: Interference, uplink_bps: int | None, scale: float) -> ConstantRate | NormalRate | None:
    """Return the rate, given that of the slower host's link."""

    def bps(intensity: Intensity) -> int:
        if intensity.rate_bps is not None:
            return scaled(intensity.rate_bps, scale)
        # Shares of an unlimited uplink were refused when the file was read, except for the default bounds of
        # a distribution.
        return 0 if uplink_bps is None else intensity.of(scaled(uplink_bps, scale))

    if entry.rate is None:
        return None
    if not isinstance(entry.rate, NormalLaw):
        return ConstantRate(constant_bps=bps(entry.rate))
    law = entry.rate.normal
    rates = NormalRates(
        mean_bps=bps(law.mean), sd_bps=bps(law.sd), low_bps=bps(law.low), high_bps=bps(law.high)
    )
    return NormalRate(normal=rates)


def _arrivals(
    arrivals: Literal["paced", "poisson"] | OnOffArrivals | ReplayArrivals, mtu_bytes: int, scale: float
) -> Literal["paced", "poisson"] | SentOnOff | SentReplay:
    if isinstance(arrivals, str):
        return arrivals
    if isinstance(arrivals, ReplayArrivals):
        return SentReplay(replay=replayed(arrivals.replay, mtu_bytes, scale))
    on_off = arrivals.on_off
    shape = None if on_off.shape is None else round(on_off.shape * 1000)
    return SentOnOff(on_off=OnOffTimes(on_ns=on_off.on_ns, off_ns=on_off.off_ns, shape_thousandths=shape))


def _tcp(entry: Interference, topology: AnyTopology) -> InterferenceTcp | None:
    if not entry.is_tcp:
        return None
    if entry.by == "iperf3":  # Real processes have the settings of the topology's hosts.
        control, ecn = topology.tcp.congestion_control, topology.tcp.ecn
    else:
        control, ecn = entry.congestion_control or "cubic", entry.ecn
    return InterferenceTcp(flows=entry.flows or 1, congestion_control=control, ecn=ecn)
