"""Find the token bucket behind a duty cycle whose samples are as long as its bursts.

A burst that is one sample mixes both rates and shows neither. Over whole periods, the same bucket looks like
one without rests. While it has tokens, a period carries the high rate's share; once it is empty, a period
carries the refill of one period. So periods are used as samples, and their low rate is the refill. A burst
ends when the bucket is empty, but a period ends after a rest. The refill of one rest is therefore added to
the budget.

This assumes that the low rate within a burst is the refill. Only finer samples can show a controller with two
rates.

Source: the conservation of tokens, as in `token_bucket.py`.
"""

from __future__ import annotations

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.knee import SAMPLES_MIN

# Periods that differ by more are not a duty cycle.
_SAME_SHARE = 0.1


def too_coarse(phases: list[TrafficTrace]) -> bool:
    """Return whether there are several phases, and all have too few samples to show a knee."""
    return len(phases) > 1 and all(phase.bits.size < SAMPLES_MIN for phase in phases)


def by_period(phases: list[TrafficTrace]) -> tuple[TrafficTrace, float, float] | None:
    """Return a sample for each period, with the times on and off; None where there is no duty cycle.

    A last phase that was cut short is left out.
    """
    on_s = np.array([phase.end_s[-1] - phase.begin_s[0] for phase in phases])
    begin_s = np.array([phase.begin_s[0] for phase in phases])
    usual_on_s, period_s = float(np.median(on_s)), float(np.median(np.diff(begin_s)))
    kept = len(phases) - (on_s[-1] < (1 - _SAME_SHARE) * usual_on_s)
    alike = np.abs(on_s[:kept] - usual_on_s) <= _SAME_SHARE * usual_on_s
    if not alike.all() or (np.abs(np.diff(begin_s) - period_s) > _SAME_SHARE * period_s).any():
        return None
    bits = [float(phase.bits.sum()) for phase in phases[:kept]]
    ends_s = np.append(begin_s[1:kept], begin_s[kept - 1] + period_s)
    return TrafficTrace.of(begin_s[:kept], ends_s, bits), usual_on_s, period_s - usual_on_s
