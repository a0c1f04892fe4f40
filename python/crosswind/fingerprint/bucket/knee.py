"""Find the knee of a phase: where the volume bends from the high rate to the low rate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.two_levels import two_levels
from crosswind.fingerprint.bucket.volume_line import offset

# A step: the smallest ratio of the high rate to the low one, and of deviations that the split explains.
STEP_MIN = 1.15
EXPLAINED_MIN = 0.5
# The first samples of a connection are its slow start. They are skipped while they are below this share of
# the median of the next samples.
START_UP_MAX = 0.9
START_UP_WINDOW = 5
# A knee needs a sample before it, the one with both rates, and one after it.
SAMPLES_MIN = 3
# Times on or off are equally long if the shorter is at least this share of the longer.
SAME_LENGTH = 0.99
# Samples on either side that determine where the lines meet. Rates drift, so a line through a whole phase
# would miss the knee.
KNEE_SAMPLES = 20


@dataclass(frozen=True)
class Knee:
    """A phase in which the bucket was emptied.

    Attributes:
        emptied_s: since the start of the phase.
        volume_bits: carried until then.
    """

    emptied_s: float
    volume_bits: float


def settled(phase: TrafficTrace) -> int:
    """Return how many samples at the start of a phase are slow start."""
    rates, start = phase.rate_bps, 0
    while start + 1 < rates.size:
        after = rates[start + 1 : start + 1 + START_UP_WINDOW]
        if rates[start] >= START_UP_MAX * np.median(after):
            break
        start += 1
    return start


def step(phase: TrafficTrace) -> int | None:
    """Return the first sample of a phase that is mostly low, or None where its rate does not fall.

    The sample with both rates is this one or the one before it.
    """
    start = settled(phase)
    rates = phase.rate_bps[start:]
    if rates.size < SAMPLES_MIN:
        return None
    split = two_levels(rates)
    if split.first <= STEP_MIN * split.second or split.explained < EXPLAINED_MIN:
        return None
    return start + split.index


def border(phase: TrafficTrace) -> int | None:
    """Return the step of a phase that shows both rates, else None.

    A phase that falls in its last sample does not show the low rate.
    """
    found = step(phase)
    return None if found is None or found + 1 == phase.bits.size else found


def borders(phases: list[TrafficTrace]) -> list[int | None]:
    """Return the border of each phase; None where its rate does not fall, or a later phase disproves the
    fall.

    Correlated noise can look like a fall. But a bucket that is emptied in one phase is also emptied in later
    phases that are as long, after rests that are no longer. So a later phase that stays high shows that the
    fall was noise. The first phase is not checked, since the bucket's level before it is unknown, nor is the
    last.
    """
    found = [border(phase) for phase in phases]
    return [
        None if index is not None and number and _taken_back(phases[number - 1 :], index) else index
        for number, index in enumerate(found)
    ]


def _taken_back(phases: list[TrafficTrace], index: int) -> bool:
    """Return whether a phase after the second one stays high, although the second one falls at `index`."""
    lasted_s = [float(phase.end_s[-1] - phase.begin_s[0]) for phase in phases]
    rested_s = [float(after.begin_s[0] - before.end_s[-1]) for before, after in pairwise(phases)]
    fallen = phases[1]
    middle = sum(float(np.median(fallen.rate_bps[side])) for side in sides(fallen, index)) / 2
    for phase, lasts_s, rests_s in zip(phases[2:], lasted_s[2:], rested_s[1:], strict=True):
        if lasts_s < SAME_LENGTH * lasted_s[1] or SAME_LENGTH * rests_s > rested_s[0]:
            return False
        if step(phase) is None and float(phase.bits.sum()) / lasts_s > middle:
            return True
    return False


def sides(phase: TrafficTrace, index: int) -> tuple[slice, slice]:
    """Return the samples before and after the two that may have both rates, without slow start."""
    start = settled(phase)
    return slice(start, max(index - 1, start + 1)), slice(index + 1, None)


def knee(phase: TrafficTrace, index: int, high_bps: float, low_bps: float) -> Knee:
    """Return where the line of the high rate meets that of the low rate, near the border `index`."""
    at_s, bits = phase.curve()
    high, low = sides(phase, index)
    # n samples have n + 1 instants.
    before, behind = slice(high.start, high.stop + 1), slice(low.start, None)
    high_bits = offset(at_s[before][-KNEE_SAMPLES:], bits[before][-KNEE_SAMPLES:], high_bps)
    low_bits = offset(at_s[behind][:KNEE_SAMPLES], bits[behind][:KNEE_SAMPLES], low_bps)
    met_s = (low_bits - high_bits) / (high_bps - low_bps) if high_bps > low_bps else np.inf
    emptied_s = float(np.clip(met_s, at_s[index - 1], at_s[index + 1]))
    return Knee(emptied_s, low_bits + low_bps * emptied_s)
