"""The token bucket behind a duty cycle whose samples are as long as its times on.

A time on that is one sample has both rates in it and shows neither. But over whole periods the same bucket is
one that is never rested: each period spends what its burst carried, at first the high rate's share of it, and
once the bucket is empty what came back since the burst before. So periods are samples, their low rate is the
refill, and they are read as any other trace. A burst ends where the bucket is empty and a period where it has
been refilled for a rest: that rest's refill is what the bucket held besides.

That the low rate within a burst is the refill is taken for granted: only finer samples tell a controller.

Source: the conservation of tokens, as `token_bucket.py` has it.
"""

from __future__ import annotations

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.knee import SAMPLES_MIN

# Periods that differ more are no duty cycle.
_SAME_SHARE = 0.1


def too_coarse(phases: list[TrafficTrace]) -> bool:
    """Return whether there are several phases, and none has the samples to show a knee."""
    return len(phases) > 1 and all(phase.bits.size < SAMPLES_MIN for phase in phases)


def by_period(phases: list[TrafficTrace]) -> tuple[TrafficTrace, float, float] | None:
    """Return a sample for each period, with the times on and off; None where the phases are no duty cycle.

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
