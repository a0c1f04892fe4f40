"""Describe the rates of a regime by the statistics of the study's figures.

A value is the mean rate over a point at full speed, or over a whole burst of a duty cycle, so that all values
are over about the same time (10 s in the study). The whiskers of the box are the 1st and the 99th percentile.
These are descriptions: neighbouring values are correlated, so there are no intervals.

Source: Uta et al. 2020, NSDI, figures 4 to 6 and 9, and "How rapidly does bandwidth vary?" in section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crosswind.fingerprint.regime.pattern import FULL_SPEED
from crosswind.fingerprint.regime.record import Record
from crosswind.stats import autocorrelations, coefficient_of_variation
from crosswind.stats.quantile import quantiles

_BOX = (0.01, 0.25, 0.5, 0.75, 0.99)


@dataclass(frozen=True)
class RegimeStatistics:
    """The statistics of all sittings together.

    Attributes:
        values: number of points, or of bursts.
        sent_bits: IP bits that arrived, in total.
        box_bps: 1st, 25th, 50th, 75th and 99th percentile; shape (5,).
        mean_bps: of the values.
        variation: standard deviation over mean; None for fewer than two values.
        autocorrelation: of neighbours; None for fewer than three values, or equal ones.
        largest_step: between neighbours, as a share of the first; None for fewer than two values.
        retransmits: segments; None where the kernel does not report them.
        rtt_us: median over points; None likewise.
        sender_cpu_s_per_gb, receiver_cpu_s_per_gb: CPU time for 1e9 bytes of payload.
        steal_share: CPU time taken by the hypervisor, as a share of the time of one core.
        clock_set: points in which the wall clock was set.
        gaps_s: times between sittings.
    """

    values: int
    sent_bits: float
    box_bps: tuple[float, ...]
    mean_bps: float
    variation: float | None
    autocorrelation: float | None
    largest_step: float | None
    retransmits: int | None
    rtt_us: float | None
    sender_cpu_s_per_gb: float | None
    receiver_cpu_s_per_gb: float | None
    steal_share: float
    clock_set: int
    gaps_s: tuple[float, ...]


def statistics_of(record: Record) -> RegimeStatistics:
    """Return the statistics of a regime.

    Raises: ValueError: it has no point.
    """
    points = record.points
    if not points:
        raise ValueError("a regime without a point: nothing was measured yet; continue it")
    by_sitting = [
        trace.rate_bps
        if record.header.regime == FULL_SPEED
        else np.array([phase.bits.sum() / (phase.end_s - phase.begin_s).sum() for phase in trace.phases()])
        for trace in record.traces()
    ]
    rates = np.concatenate(by_sitting)
    retransmits = [point.retransmits for point in points if point.retransmits is not None]
    rtts_us = [point.rtt_us for point in points if point.rtt_us is not None]
    gigabytes = sum(point.payload_bytes for point in points) / 1e9
    lasted_s = sum((point.end_ns - point.begin_ns) / 1e9 for point in points)
    return RegimeStatistics(
        values=rates.size,
        sent_bits=float(sum(trace.bits.sum() for trace in record.traces())),
        box_bps=quantiles(rates, _BOX),
        mean_bps=float(np.mean(rates)),
        variation=coefficient_of_variation(rates) if rates.size >= 2 and rates.any() else None,
        autocorrelation=_neighbours(by_sitting),
        largest_step=_largest_step(by_sitting),
        retransmits=sum(retransmits) if retransmits else None,
        rtt_us=float(np.median(rtts_us)) if rtts_us else None,
        sender_cpu_s_per_gb=sum(point.sender_cpu_s for point in points) / gigabytes if gigabytes else None,
        receiver_cpu_s_per_gb=(
            sum(point.receiver_cpu_s for point in points) / gigabytes if gigabytes else None
        ),
        steal_share=sum(point.steal_s for point in points) / lasted_s,
        clock_set=sum(point.clock_set_s != 0 for point in points),
        gaps_s=tuple(sitting.begin.gap_s for sitting in record.sittings if sitting.begin.gap_s is not None),
    )


def _neighbours(by_sitting: Sequence[np.ndarray]) -> float | None:
    """Return the autocorrelation at lag 1 of the longest sitting; values across a gap are not neighbours."""
    longest = max(by_sitting, key=len)
    if longest.size < 3:
        return None
    found = float(autocorrelations(longest, 1)[0])
    return None if np.isnan(found) else found


def _largest_step(by_sitting: Sequence[np.ndarray]) -> float | None:
    steps = [np.abs(np.diff(rates))[rates[:-1] > 0] / rates[:-1][rates[:-1] > 0] for rates in by_sitting]
    together = np.concatenate(steps)
    return float(together.max()) if together.size else None
