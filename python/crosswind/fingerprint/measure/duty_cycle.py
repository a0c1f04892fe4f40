"""Send more than a path can take, rest, and send again: the trace in which its token bucket shows.

Packets are UDP and nobody slows down, so that the path is never idle while it is offered something. What
waits in it when the sender stops still arrives and is counted; a phase ends with its last packet.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from crosswind.certify.flood import FILE, IP_BYTES, Flood, flood_task, read_flood
from crosswind.fingerprint.measure.ends import PACKETS_PORT, Network
from crosswind.fingerprint.measure.packets import carried
from crosswind.fingerprint.measure.wall_clock import left_alone
from crosswind.fingerprint.trace.traffic_trace import TrafficTrace


def duty_cycle(
    network: Network,
    offered_bps: float,
    on_s: Sequence[float],
    off_s: float,
    sample_s: float,
    ip_bytes: int = IP_BYTES,
) -> TrafficTrace:
    """Return what arrived at the far end of what the near one sent, in IP bits.

    Args:
        offered_bps: IP bits per second, more than the path takes.
        on_s: how long it is offered, phase by phase.
        off_s: at least so long nothing is, between two phases.
        sample_s: length of the samples.
        ip_bytes: of a packet; no more than the path takes whole.
    """
    floods: list[Flood] = []
    with network() as ends, left_alone(ends.far):
        for length_s in on_s:
            if floods:
                # The clock of another machine is no measure of time here.
                since_s = time.time() - float(floods[-1].received_ns[-1]) / 1e9 if ends.one_machine else 0.0
                time.sleep(max(0.0, off_s - since_s))
            task = flood_task(offered_bps, length_s, where=ends.far.at(PACKETS_PORT), ip_bytes=ip_bytes)
            floods.append(carried(ends, task, FILE, length_s, partial(read_flood, duration_s=length_s)))
    return sampled(floods, sample_s)


def sampled(floods: Sequence[Flood], sample_s: float) -> TrafficTrace:
    """Return floods as the samples of one trace.

    Each sample ends with the last packet in it, so that its volume is exact and not right to a packet.
    """
    rows = []
    origin_ns = floods[0].received_ns[0]
    for flood in floods:
        at_s = (flood.received_ns - origin_ns) / 1e9
        borders_s = np.arange(at_s[0] + sample_s, at_s[-1], sample_s)
        last = np.unique(np.append(np.searchsorted(at_s, borders_s, side="right") - 1, at_s.size - 1))
        last = last[at_s[last] > at_s[0]]
        bits = np.diff(np.cumsum(8.0 * flood.ip_bytes)[last], prepend=0.0)
        rows.append((np.append(at_s[0], at_s[last][:-1]), at_s[last], bits))
    return TrafficTrace.of(*(np.concatenate(column) for column in zip(*rows, strict=True)))
