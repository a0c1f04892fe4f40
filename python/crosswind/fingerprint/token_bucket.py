"""Find the token bucket behind a network's rates: high and low rate, budget, refill.

The model: a sender that wants all it can get has the high rate while there are tokens and the low rate
afterwards; tokens come back at the refill all the time and are at most the budget. A policing bucket's low
rate *is* its refill. A controller that switches between two rates has a low rate of its own, and is told
apart by that.

So the volume over time is two lines with a knee, and everything is read from them: the rates are their
slopes, the bucket is empty where they meet, and it held what the low line says of that instant, less what
came back until then. Volumes do not care how they were sampled. Rates do: a program that writes 128 KiB at a
time gives samples of 0.1 s at 10 Mbit/s the values 0, 10.5 and 21 Mbit/s, whose median says little of their
mean. What comes back in a rest is found from the volume of the phase after it.

A bucket that was not emptied is a bound and not an answer: at least what was taken from it.

Source: Uta et al. 2020, "Is Big Data Performance Reproducible in Modern Cloud Networks?", NSDI, section 3.
Their own rule, and what is wrong with it: `published_detector.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.traffic_trace import TrafficTrace
from crosswind.fingerprint.two_levels import two_levels
from crosswind.fingerprint.volume_line import offset, slope

# The high rate is at least so much above the low one, and a split explains so much of the deviations.
STEP_MIN = 1.15
EXPLAINED_MIN = 0.5
# A connection's first samples hold its slow start: they are passed over while they are below so much of
# the median of as many samples after them.
START_UP_MAX = 0.9
START_UP_WINDOW = 5
# A phase after a rest that was as long as the first one of a full bucket had as much: the rest filled it.
FULL_SHARE = 0.95
# A low rate this near to the refill is the refill.
SAME_SHARE = 0.05
# So many samples on either side say where the lines meet: rates wander, and a line through all of a phase
# would have wandered off.
KNEE_SAMPLES = 20
# Samples are drawn in blocks of neighbours, so many of them and none shorter.
_BLOCKS = 10
_SHORTEST_BLOCK = 5
_RESAMPLES = 200

Kind = Literal["bucket", "two-state", "undecided", "not emptied"]


@dataclass(frozen=True)
class Range:
    """An estimate and its 95 % interval, in bit or bit/s."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class TokenBucket:
    """What was found.

    Attributes:
        kind: a bucket (low rate and refill agree), a controller with two rates, undecided between them where
            no rest was followed by a phase that emptied it again, or not emptied at all.
        high_bps: while there are tokens.
        low_bps: without; None where it was not emptied.
        refill_bps: from rests; None where there were none that say.
        emptied_s: seconds of the first phase in which it was; None where it was not.
        budget_bits: what it held when the trace began, which is all of it after a rest that was long enough;
            None where it was not emptied. Without a refill of its own the low rate is taken for it.
        at_least_bits: what it held at least where it was not emptied and the refill is known; else None.
    """

    kind: Kind
    high_bps: Range
    low_bps: Range | None
    refill_bps: Range | None
    emptied_s: float | None
    budget_bits: Range | None
    at_least_bits: float | None


def identify(trace: TrafficTrace, *, refill_bps: float | None = None, seed: int = 1) -> TokenBucket:
    """Return the token bucket behind a trace.

    Args:
        trace: of a sender that wanted all it could get, from the first sample on; with rests or without.
        refill_bps: where it is known from elsewhere; else it is taken from the rests.
        seed: of the bootstrap's blocks.
    """
    phases = list(trace.phases())
    knees = [_knee(phase) for phase in phases]
    first = knees[0]
    random = np.random.default_rng(seed)
    if first is None:
        high = _range([_line(phase) for phase in _resampled(phases[0], None, random)])
        length_s = float(phases[0].end_s[-1] - phases[0].begin_s[0])
        at_least = None
        if refill_bps is not None:
            at_least = max(0.0, float(phases[0].bits.sum()) - refill_bps * length_s)
        return TokenBucket("not emptied", high, None, None, None, None, at_least)
    refills = _refills(phases, knees)
    refill = _interval(refills, random) if refills.size else None
    known = refill_bps if refill_bps is not None else refill.value if refill else None
    drawn = [_lines(phase, first.index) for phase in _resampled(phases[0], first, random)]
    low = _range([knee.low_bps for knee in drawn])
    return TokenBucket(
        kind=_kind(low.value, refill, refill_bps),
        high_bps=_range([knee.high_bps for knee in drawn]),
        low_bps=low,
        refill_bps=refill,
        emptied_s=first.emptied_s,
        budget_bits=_range([knee.held_bits(known) for knee in drawn]),
        at_least_bits=None,
    )


@dataclass(frozen=True)
class _Knee:
    """A phase in which the bucket was emptied: a line of the high rate and one of the low rate.

    Attributes:
        index: of the first sample that is rather low than high.
        emptied_s: since the begin of the phase.
        volume_bits: until then.
    """

    index: int
    high_bps: float
    low_bps: float
    emptied_s: float
    volume_bits: float

    def held_bits(self, refill_bps: float | None) -> float:
        """Return what was taken until it was empty, less what came back; at the low rate where not known."""
        refill = self.low_bps if refill_bps is None else refill_bps
        return self.volume_bits - refill * self.emptied_s


def _settled(phase: TrafficTrace) -> int:
    """Return how many samples at the begin of a phase are slow start."""
    rates, start = phase.rate_bps, 0
    while start + 1 < rates.size:
        after = rates[start + 1 : start + 1 + START_UP_WINDOW]
        if rates[start] >= START_UP_MAX * np.median(after):
            break
        start += 1
    return start


def _knee(phase: TrafficTrace) -> _Knee | None:
    """Return where a phase falls to its low rate, or None where it does not."""
    start = _settled(phase)
    rates = phase.rate_bps[start:]
    if rates.size < 3:
        return None
    split = two_levels(rates)
    if split.first <= STEP_MIN * split.second or split.explained < EXPLAINED_MIN:
        return None
    # The low line needs a sample behind the one that may have both rates.
    return _lines(phase, start + split.index) if split.index + 1 < rates.size else None


def _lines(phase: TrafficTrace, index: int) -> _Knee:
    """Return the two lines of a phase whose rate falls at about sample `index`.

    The sample that has both rates is one of the two beside that border; each line is drawn without it.
    """
    at_s, bits = phase.curve()
    start = _settled(phase)
    high, low = slice(start, max(index, start + 2)), slice(index + 1, None)
    high_bps, low_bps = slope(at_s[high], bits[high]), slope(at_s[low], bits[low])
    high_bits = offset(at_s[high][-KNEE_SAMPLES:], bits[high][-KNEE_SAMPLES:], high_bps)
    low_bits = offset(at_s[low][:KNEE_SAMPLES], bits[low][:KNEE_SAMPLES], low_bps)
    met_s = (low_bits - high_bits) / (high_bps - low_bps) if high_bps > low_bps else np.inf
    emptied_s = float(np.clip(met_s, at_s[index - 1], at_s[index + 1]))
    return _Knee(index, high_bps, low_bps, emptied_s, low_bits + low_bps * emptied_s)


def _line(phase: TrafficTrace) -> float:
    """Return the rate of a phase that has but one."""
    at_s, bits = phase.curve()
    start = min(_settled(phase), phase.bits.size - 1)
    return slope(at_s[start:], bits[start:])


def _refills(phases: list[TrafficTrace], knees: list[_Knee | None]) -> NDArray[np.float64]:
    """Return the refill that each rest between two emptied phases says, in bit/s; shape (rests that say,)."""
    found = []
    first = knees[0]
    for before, phase, knee_before, knee in zip(phases, phases[1:], knees, knees[1:], strict=False):
        if first is None or knee_before is None or knee is None:
            continue
        rest_s = float(phase.begin_s[0] - before.end_s[-1])
        low_s = float((phase.end_s - phase.begin_s).sum()) - knee.emptied_s
        # Of all that was carried, so that an error of the knee counts but as the low rate less the refill.
        taken_bits = float(phase.bits.sum()) - first.low_bps * low_s
        if 0 < knee.emptied_s < FULL_SHARE * first.emptied_s:
            found.append(taken_bits / (rest_s + knee.emptied_s))
    return np.array(found)


def _kind(low: float, refill: Range | None, given: float | None) -> Kind:
    if refill is not None:
        least, most = refill.low, refill.high
    elif given is not None:
        least = most = given
    else:
        return "undecided"
    near = least * (1 - SAME_SHARE) <= low <= most * (1 + SAME_SHARE)
    return "bucket" if near else "two-state"


def _resampled(
    phase: TrafficTrace, knee: _Knee | None, random: np.random.Generator
) -> Iterator[TrafficTrace]:
    """Yield a phase, and then others that could have been: with its samples of each level drawn anew.

    They are drawn in blocks of neighbours, so that what is correlated stays so (Künsch 1989). The two samples
    at the knee stay, and so does slow start.
    """
    yield phase
    rates, lengths_s, start = phase.rate_bps, phase.end_s - phase.begin_s, _settled(phase)
    levels = [slice(start, None)]
    if knee is not None:
        levels = [slice(start, knee.index - 1), slice(knee.index + 1, None)]
    for _ in range(_RESAMPLES):
        drawn = rates.copy()
        for level in levels:
            drawn[level] = _blocks(rates[level], random)
        yield TrafficTrace(phase.begin_s, phase.end_s, drawn * lengths_s)


def _blocks(values: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    """Draw as many values, in blocks of neighbours; behind the last one comes the first."""
    size = values.size
    length = max(_SHORTEST_BLOCK, size // _BLOCKS)
    begins = random.integers(0, max(size, 1), -(-size // length))
    picked = (begins[:, None] + np.arange(length)).ravel()[:size] % max(size, 1)
    return np.asarray(values[picked])


def _interval(values: NDArray[np.float64], random: np.random.Generator) -> Range:
    picked = random.integers(0, values.size, (_RESAMPLES, values.size))
    return _range([float(np.median(values)), *np.median(values[picked], axis=1)])


def _range(values: list[float]) -> Range:
    """Return the first of some values with the interval of the others."""
    value, *resampled = values
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Range(value, min(float(low), value), max(float(high), value))
