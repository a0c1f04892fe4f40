"""The knee of a phase: where the volume of a sender that empties a bucket bends from one line to another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.two_levels import two_levels
from crosswind.fingerprint.bucket.volume_line import offset

# The high rate is at least so much above the low one, and a split explains so much of the deviations.
STEP_MIN = 1.15
EXPLAINED_MIN = 0.5
# A connection's first samples hold its slow start: they are passed over while they are below so much of
# the median of as many samples after them.
START_UP_MAX = 0.9
START_UP_WINDOW = 5
# A phase shows its knee with a sample before it, the one that has both rates, and one behind it.
SAMPLES_MIN = 3
# Times on or off that are as long as each other differ by less.
SAME_LENGTH = 0.99
# So many samples on either side say where the lines meet: rates wander, and a line through all of a phase
# would have wandered off.
KNEE_SAMPLES = 20


@dataclass(frozen=True)
class Knee:
    """A phase in which the bucket was emptied.

    Attributes:
        emptied_s: since the begin of the phase.
        volume_bits: until then.
    """

    emptied_s: float
    volume_bits: float


def settled(phase: TrafficTrace) -> int:
    """Return how many samples at the begin of a phase are slow start."""
    rates, start = phase.rate_bps, 0
    while start + 1 < rates.size:
        after = rates[start + 1 : start + 1 + START_UP_WINDOW]
        if rates[start] >= START_UP_MAX * np.median(after):
            break
        start += 1
    return start


def step(phase: TrafficTrace) -> int | None:
    """Return the first sample of a phase that is rather low than high, or None where its rate does not fall.

    The sample that has both rates is this one or the one before it.
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

    The low line needs a sample behind the one that may have both. A phase that falls in its last sample does
    not say what it falls to.
    """
    found = step(phase)
    return None if found is None or found + 1 == phase.bits.size else found


def borders(phases: list[TrafficTrace]) -> list[int | None]:
    """Return the border of each phase; None where its rate does not fall, or a later phase takes that back.

    Noise with a memory can look like a fall. But a bucket that was emptied in one phase is emptied in the
    next ones too, as long as they and the rests before them are as they were: it has no more in it by then.
    So one that stays high says that it was noise. The first phase is left alone, since nobody knows what was
    in the bucket before it, and the last one, which has none behind it.
    """
    found = [border(phase) for phase in phases]
    return [
        None if index is not None and number and _taken_back(phases[number - 1 :], index) else index
        for number, index in enumerate(found)
    ]


def _taken_back(phases: list[TrafficTrace], index: int) -> bool:
    """Return whether a phase behind the second one stays high, which falls at `index`."""
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
    """Return the samples before and behind the two that may have both rates, without slow start."""
    start = settled(phase)
    return slice(start, max(index - 1, start + 1)), slice(index + 1, None)


def knee(phase: TrafficTrace, index: int, high_bps: float, low_bps: float) -> Knee:
    """Return where a line of the high rate meets one of the low rate, near the border `index`."""
    at_s, bits = phase.curve()
    high, low = sides(phase, index)
    # Of n samples n + 1 instants are known.
    before, behind = slice(high.start, high.stop + 1), slice(low.start, None)
    high_bits = offset(at_s[before][-KNEE_SAMPLES:], bits[before][-KNEE_SAMPLES:], high_bps)
    low_bits = offset(at_s[behind][:KNEE_SAMPLES], bits[behind][:KNEE_SAMPLES], low_bps)
    met_s = (low_bits - high_bits) / (high_bps - low_bps) if high_bps > low_bps else np.inf
    emptied_s = float(np.clip(met_s, at_s[index - 1], at_s[index + 1]))
    return Knee(emptied_s, low_bits + low_bps * emptied_s)
