"""Send more than a path can take, rest, and send again: the trace in which its token bucket shows.

Packets are UDP and nobody slows down, so that the path is never idle while it is offered something. What
waits in it when the sender stops still arrives and is counted; a phase ends with its last packet.

A sender that stands still (its machine is busy, or it was stopped) leaves the path idle, which a bucket fills
in, and a receiver that waits too long gives up before the end. Such a burst says nothing of the network. It
is measured again where the network is ours, and refused where a bucket would remember it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from crosswind.analysis.network.traffic_trace import GAP_S, TrafficTrace
from crosswind.fingerprint.measure.ends import PACKETS_PORT, Ends, Network
from crosswind.fingerprint.measure.packets import Interrupted, Report, carried
from crosswind.fingerprint.measure.wall_clock import left_alone
from crosswind.probe.flood import FILE, IP_BYTES, SILENCE_S, Flood, flood_task, read_flood

# A hundredth of a burst moves no figure by more than its interval; below GAP_S nobody sees a gap.
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
    """Return what arrived at the far end of what the near one sent, in IP bits.

    Args:
        offered_bps: IP bits per second, more than the path takes.
        on_s: how long it is offered, phase by phase.
        off_s: at least so long nothing is, between two phases.
        sample_s: length of the samples.
        ip_bytes: of a packet; no more than the path takes whole.
        spend: is told how many bytes are about to be sent, each time.
    Raises: Interrupted: an end stood still; five times, where the network is ours.
    """
    for number in range(1, _TRIES + 1):
        spend(round(sum(on_s) * offered_bps / 8))
        with network() as ends:
            try:
                floods = _floods(ends, offered_bps, on_s, off_s, ip_bytes)
                return sampled(floods, sample_s)
            except Interrupted as error:
                if not ends.ours:
                    raise Interrupted(
                        f"{error}; what it left in a token bucket is not known: let the network rest for as "
                        "long as one takes to fill, and measure again"
                    ) from None
                if number == _TRIES:
                    raise Interrupted(
                        f"{error}; so it was {_TRIES} times: measure on a machine that does less"
                    ) from None
    raise AssertionError("the last try returns or raises")


def _floods(
    ends: Ends, offered_bps: float, on_s: Sequence[float], off_s: float, ip_bytes: int
) -> list[Flood]:
    floods: list[Flood] = []
    with left_alone(ends.far):
        for length_s in on_s:
            if floods:
                # The clock of another machine is no measure of time here.
                since_s = time.time() - float(floods[-1].received_ns[-1]) / 1e9 if ends.one_machine else 0.0
                time.sleep(max(0.0, off_s - since_s))
            task = flood_task(offered_bps, length_s, where=ends.far.at(PACKETS_PORT), ip_bytes=ip_bytes)
            read = partial(read_flood, duration_s=length_s)
            flood, report = carried(ends, task, FILE, length_s, read)
            refuse_interrupted(ends, flood, report)
            floods.append(flood)
    return floods


def refuse_interrupted(ends: Ends, flood: Flood, report: Report) -> None:
    """Compare what arrived with what was sent.

    Args:
        report: of both programs.
    Raises: Interrupted: the sender stood still, the receiver gave up before its end, or had no room.
    """
    allowed_s = max(GAP_S, _LATE_SHARE * flood.offered_s)
    late_s, lasted_s = report.latest_ns / 1e9, report.lasted_ns / 1e9
    if late_s > allowed_s:
        raise Interrupted(
            f"{ends.near.name}: the sender stood still for {late_s:.3g} s of a burst of {flood.offered_s:g} "
            f"s, where at most {allowed_s:.3g} s may be"
        )
    if flood.span_s < lasted_s - SILENCE_S:
        raise Interrupted(
            f"{ends.far.name}: packets arrived for {flood.span_s:.3g} s of the {lasted_s:.3g} s in which "
            f"they were sent, and then none for {SILENCE_S:g} s"
        )
    if report.overflowed:
        raise Interrupted(
            f"{ends.far.name}: the receiver had no room for {report.overflowed} packets that the network "
            "had carried"
        )


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
