"""Claims: a change of a link's capacity takes effect on time, and the link carries the integral of its rate.

Small packets are sent all the time through a link with an outage every other 5 ms. The first packet after an
outage is due one serialisation time after its end; the receiver's time stamp shows when it arrived. Then a
link whose rate is drawn at random every 20 ms is overloaded.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.quiet import Tries, Watch
from crosswind.certify.virtual.exact import wire_bytes
from crosswind.probe.flood import WIRE_BYTES, Flood, flood_fabric
from crosswind.probe.single_packets import HEADER_BYTES, PAYLOAD_BYTES, Probes, probe_fabric
from crosswind.results import Measurement
from crosswind.spec import FabricSpec
from crosswind.spec.resolved import Parameters, SentElement
from crosswind.testbed.plain import plain_fabric

FAMILY = "capacity"
RATE_BPS = 1_000_000_000
HALF_NS = 5_000_000
PROBES_PER_S = 2000
DURATION_S = 2.0
ERROR_MAX_NS = 100_000
LEVELS_BPS = (20_000_000, 80_000_000)
HOLD_NS = 20_000_000
DRAWN_S = 0.7
# One packet at the lowest rate takes 0.6 ms of about 1 s of measurement; the rest is for late packets.
CARRIED_ERROR_MAX = 1e-3
_WAY = "live"


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield claims on outages and on a process that draws its levels."""
    yield from _outages(tries)
    yield _drawn(tries)


def _outages(tries: Tries) -> Iterator[Claim]:
    """Yield claims on the first packet after an outage, and on packets that arrive during one."""

    def once(watch: Watch) -> tuple[Probes, Measurement]:
        probes, measurement = probe_fabric(_fabric(), PROBES_PER_S, int(PROBES_PER_S * DURATION_S))
        watch.judge(measurement)
        return probes, measurement

    tried = tries.measure("changes of capacity", once)
    probes, measurement = tried.result
    to_realtime_ns = measurement.window.realtime_minus_monotonic_ns
    (driven,) = measurement.capacity
    ends_ns = np.array([change.at_ns + to_realtime_ns for change in driven.changes if change.rate_bps])
    received_ns = np.sort(probes.received_ns)
    # Outages before the first or after the last packet cannot be measured.
    ends_ns = ends_ns[(ends_ns > received_ns[0] + HALF_NS) & (ends_ns < received_ns[-1])]
    first = np.searchsorted(received_ns, ends_ns)
    serialised_ns = wire_bytes(HEADER_BYTES + PAYLOAD_BYTES) * 8 * 10**9 / RATE_BPS
    errors_ns = received_ns[first] - ends_ns - serialised_ns
    yield at_most(
        FAMILY,
        "a change of rate: error of the first packet, 99 %",
        _WAY,
        float(np.quantile(errors_ns, 0.99)),
        ERROR_MAX_NS,
        "ns",
        "the end of an outage in the engine, and the receiver's time stamp of the packet that waited for it",
        disturbed=tried.disturbed,
        details={
            "changes": len(errors_ns),
            "error_ns_p50": float(np.quantile(errors_ns, 0.5)),
            "error_ns_max": float(errors_ns.max()),
        },
    )
    # Count only the second half of an outage, because packets from before it have arrived by then.
    before = np.searchsorted(received_ns, ends_ns - HALF_NS // 2)
    yield at_most(
        FAMILY,
        "packets that leave in an outage",
        _WAY,
        float((first - before).sum()),
        0,
        "packets",
        "no packet passes a link during an outage",
        disturbed=tried.disturbed,
    )


def _drawn(tries: Tries) -> Claim:
    """Return the claim that a link carries the integral of the rates that the emulator recorded."""
    low_bps, high_bps = LEVELS_BPS
    cell: Parameters = {"low_bps": low_bps, "high_bps": high_bps, "weight": 1}
    fabric = _driven({"drawn": {"cells": [cell], "grid_bps": 1000, "hold_ns": HOLD_NS}})

    def once(watch: Watch) -> tuple[Flood, Measurement]:
        flood, measurement = flood_fabric(fabric, high_bps, DRAWN_S)
        watch.judge(measurement)
        return flood, measurement

    tried = tries.measure("a process that draws its rate", once)
    flood, measurement = tried.result
    to_realtime_ns = measurement.window.realtime_minus_monotonic_ns
    (driven,) = measurement.capacity
    at_ns = np.array([change.at_ns for change in driven.changes]) + to_realtime_ns
    rate_bps = np.array([change.rate_bps for change in driven.changes], dtype=np.float64)
    # At first the link is sometimes idle; after a fifth of the flood packets wait until its end.
    received_ns = flood.received_ns[
        np.searchsorted(flood.received_ns, flood.received_ns[0] + flood.span_s * 2e8) :
    ]
    held_ns = np.diff(np.clip(np.append(at_ns, np.inf), received_ns[0], received_ns[-1]))
    expected_bits = float((held_ns * rate_bps).sum()) / 1e9
    carried_bits = float(flood.packets[-len(received_ns) + 1 :].sum()) * WIRE_BYTES * 8
    return at_most(
        FAMILY,
        "rates drawn at random: error of the carried bits",
        _WAY,
        abs(carried_bits / expected_bits - 1),
        CARRIED_ERROR_MAX,
        "ratio",
        "the integral of the recorded rates, and the receiver's time stamps",
        disturbed=tried.disturbed,
        details={"levels": int(np.count_nonzero(held_ns)), "over_s": float(np.ptp(received_ns)) / 1e9},
    )


def _fabric() -> FabricSpec:
    return _driven({"levels": {"at_ns": [0, HALF_NS], "rate_bps": [RATE_BPS, 0], "repeat_ns": 2 * HALF_NS}})


def _driven(process: Parameters) -> FabricSpec:
    """Return a fabric in which a process drives the first host's uplink, without other limits."""
    capacity: SentElement = {"capacity": {"process": process, "direction": "up", "on": ["h0"]}}
    # Without merging: merged packets would all have the time stamp of the last one.
    return plain_fabric(places={"link": [capacity]}).with_changes(merge_window_ns=0)
