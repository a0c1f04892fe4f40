"""Send more than a path can take, rest, and send again: the trace shows the path's token bucket.

Packets are UDP and the sender never slows down, so that the path is never idle during a burst. Packets that
are queued when the sender stops still arrive and are counted; a phase ends with its last packet.

If the sender stalls (its machine is busy, or it was stopped), the path is idle and a bucket refills. If the
receiver waits too long, it gives up before the end. Such a burst says nothing about the network. It is
repeated on a network that Crosswind makes, and refused on an existing one, where it affects the bucket.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from crosswind.analysis.network.traffic_trace import GAP_S, TrafficTrace
from crosswind.fingerprint.measure.ends import PACKETS_PORT, Ends, Network
from crosswind.fingerprint.measure.packets import EndsReport, EndStalled, carried
from crosswind.fingerprint.measure.wall_clock import left_alone
from crosswind.probe.flood import FILE, IP_BYTES, SILENCE_S, Flood, flood_task, read_flood

# A hundredth of a burst changes no figure by more than its interval; below GAP_S it is not a gap.
_LATE_SHARE = 0.01
_TRIES = 5


def duty_cycle(
    network: Network,
    offered_bps: float,
    on_s: Sequence[float],
    off_s: float,
    sample_s: float,
    ip_bytes: int = IP_BYTES,
    spend: Callable[[int], None] = lambda _: None,
) -> TrafficTrace:
    """Send from the near end to the far one, and return what arrived, in IP bits.

    Args:
        offered_bps: IP bits per second, more than the path takes.
        on_s: length of each burst.
        off_s: the least time between two bursts.
        sample_s: length of the samples.
        ip_bytes: of a packet; at most the path MTU.
        spend: is called before each try with the bytes that it will send.
    Raises: Interrupted: an end stalled; on a network that Crosswind makes, five times.
    """
    for number in range(1, _TRIES + 1):
        spend(round(sum(on_s) * offered_bps / 8))
        with network() as ends:
            try:
                floods = _floods(ends, offered_bps, on_s, off_s, ip_bytes)
                return sampled(floods, sample_s)
            except EndStalled as error:
                if not ends.ours:
                    raise EndStalled(
                        f"{error}; the level of a token bucket is now unknown: let the network rest until a "
                        "bucket is full, and measure again"
                    ) from None
                if number == _TRIES:
                    raise EndStalled(
                        f"{error}; this happened {_TRIES} times: measure on a less busy machine"
                    ) from None
    raise AssertionError("the last try returns or raises")


def _floods(
    ends: Ends, offered_bps: float, on_s: Sequence[float], off_s: float, ip_bytes: int
) -> list[Flood]:
    floods: list[Flood] = []
    with left_alone(ends.far):
        for length_s in on_s:
            if floods:
                # The clock of another machine cannot be compared with this one.
                since_s = time.time() - float(floods[-1].received_ns[-1]) / 1e9 if ends.one_machine else 0.0
                time.sleep(max(0.0, off_s - since_s))
            task = flood_task(offered_bps, length_s, where=ends.far.at(PACKETS_PORT), ip_bytes=ip_bytes)
            read = partial(read_flood, duration_s=length_s)
            flood, report = carried(ends, task, FILE, length_s, read)
            refuse_interrupted(ends, flood, report)
            floods.append(flood)
    return floods


def refuse_interrupted(ends: Ends, flood: Flood, report: EndsReport) -> None:
    """Check that neither end interrupted a burst.

    Args:
        report: of both programs.
    Raises: Interrupted: the sender stalled, or the receiver gave up early or had no room.
    """
    allowed_s = max(GAP_S, _LATE_SHARE * flood.offered_s)
    late_s, lasted_s = report.latest_ns / 1e9, report.lasted_ns / 1e9
    if late_s > allowed_s:
        raise EndStalled(
            f"{ends.near.name}: the sender stalled for {late_s:.3g} s in a burst of {flood.offered_s:g} s; "
            f"at most {allowed_s:.3g} s are allowed"
        )
    if flood.span_s < lasted_s - SILENCE_S:
        raise EndStalled(
            f"{ends.far.name}: packets arrived for {flood.span_s:.3g} s of the {lasted_s:.3g} s in which "
            f"they were sent, then none for {SILENCE_S:g} s"
        )
    if report.overflowed:
        raise EndStalled(
            f"{ends.far.name}: the receiver had no room for {report.overflowed} packets that the network "
            "had carried"
        )


def sampled(floods: Sequence[Flood], sample_s: float) -> TrafficTrace:
    """Return floods as the samples of one trace.

    Each sample ends with its last packet, so that its volume is exact.
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
