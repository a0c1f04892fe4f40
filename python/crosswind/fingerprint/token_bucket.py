"""Find the token bucket behind a network's rates: high and low rate, budget, refill.

The model: a sender that wants all it can get has the high rate while there are tokens and the low rate
afterwards; tokens come back at the refill all the time and are at most the budget. A policing bucket's low
rate *is* its refill. A controller that switches between two rates has a low rate of its own, and is told
apart by that.

Three things make the estimates exact where rates are noisy and samples coarse. Levels are medians. The
instant at which the bucket was empty lies inside a sample, and is found from the volume around it. And what
comes back in a rest is found from the volume of the phase after it: volume does not care how it was sampled.

A bucket that was not emptied is a bound and not an answer: at least what was taken from it.

Source: Uta et al. 2020, "Is Big Data Performance Reproducible in Modern Cloud Networks?", NSDI, section 3.
Their own rule, and what is wrong with it: `published_detector.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.traffic_trace import TrafficTrace
from crosswind.fingerprint.two_levels import two_levels

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
_BLOCK = 5
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
    steps = [_step(phase) for phase in phases]
    first = steps[0]
    random = np.random.default_rng(seed)
    if first is None:
        high = _median(_settled(phases[0]).rate_bps, random)
        known = refill_bps
        length_s = float(phases[0].end_s[-1] - phases[0].begin_s[0])
        at_least = None if known is None else max(0.0, float(phases[0].bits.sum()) - known * length_s)
        return TokenBucket("not emptied", high, None, None, None, None, at_least)
    high, low = _median(first.high_samples, random), _median(first.low_samples, random)
    refills = _refills(phases, steps, high.value, low.value)
    refill = _interval(refills, random) if refills.size else None
    known = refill_bps if refill_bps is not None else refill.value if refill else low.value
    return TokenBucket(
        kind=_kind(low.value, refill, refill_bps),
        high_bps=high,
        low_bps=low,
        refill_bps=refill,
        emptied_s=first.emptied_s,
        budget_bits=_budget(phases[0], first, known, random),
        at_least_bits=None,
    )


@dataclass(frozen=True)
class _Step:
    """A phase in which the bucket was emptied."""

    emptied_s: float  # since its begin
    volume_bits: float  # until then
    high_samples: NDArray[np.float64]
    low_samples: NDArray[np.float64]


def _settled(phase: TrafficTrace) -> TrafficTrace:
    """Return a phase without the samples of slow start at its begin."""
    rates, start = phase.rate_bps, 0
    while start + 1 < rates.size:
        after = rates[start + 1 : start + 1 + START_UP_WINDOW]
        if rates[start] >= START_UP_MAX * np.median(after):
            break
        start += 1
    return TrafficTrace(phase.begin_s[start:], phase.end_s[start:], phase.bits[start:])


def _step(phase: TrafficTrace, rates: NDArray[np.float64] | None = None) -> _Step | None:
    """Return where a phase falls to its low rate, or None where it does not.

    Args:
        rates: shape (n,) of the settled phase, where not its own: resampled ones.
    """
    settled = _settled(phase)
    rates = settled.rate_bps if rates is None else rates
    if rates.size < 3:
        return None
    split = two_levels(rates)
    if split.first <= STEP_MIN * split.second or split.explained < EXPLAINED_MIN:
        return None
    # The sample that has both rates is one of the two at the border; each level is taken without it.
    high_samples, low_samples = rates[: max(1, split.index - 1)], rates[split.index + 1 :]
    if not low_samples.size:
        return None
    high, low = float(np.median(high_samples)), float(np.median(low_samples))
    around = slice(split.index - 1, split.index + 1)
    lengths = settled.end_s[around] - settled.begin_s[around]
    surplus_bits = float((rates[around] * lengths).sum() - low * lengths.sum())
    at_high_s = min(max(surplus_bits / (high - low), 0.0), float(lengths.sum()))
    emptied_at = float(settled.begin_s[split.index - 1]) + at_high_s
    until_border = settled.begin_s < settled.begin_s[split.index - 1]
    # What slow start left out was not taken from the bucket either.
    volume = float(phase.bits[: phase.bits.size - settled.bits.size].sum())
    volume += float((rates * (settled.end_s - settled.begin_s))[until_border].sum()) + high * at_high_s
    return _Step(emptied_at - float(phase.begin_s[0]), volume, high_samples, low_samples)


def _refills(
    phases: list[TrafficTrace], steps: list[_Step | None], high: float, low: float
) -> NDArray[np.float64]:
    """Return the refill that each rest between two emptied phases says, in bit/s; shape (rests that say,)."""
    found = []
    for before, phase, step_before, step in zip(phases, phases[1:], steps, steps[1:], strict=False):
        if step_before is None or step is None:
            continue
        rest_s = float(phase.begin_s[0] - before.end_s[-1])
        length_s = float((phase.end_s - phase.begin_s).sum())
        at_high_s = (float(phase.bits.sum()) - low * length_s) / (high - low)
        full_s = steps[0].emptied_s if steps[0] is not None else np.inf
        if 0 < at_high_s < FULL_SHARE * full_s:
            found.append(high * at_high_s / (rest_s + at_high_s))
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


def _budget(phase: TrafficTrace, step: _Step, refill: float, random: np.random.Generator) -> Range:
    """Return what the bucket held: what was taken until it was empty, less what came back meanwhile."""
    value = step.volume_bits - refill * step.emptied_s
    settled = _settled(phase)
    rates = settled.rate_bps
    border = int(np.searchsorted(settled.begin_s, phase.begin_s[0] + step.emptied_s))
    levels = np.where(
        np.arange(rates.size) < border, np.median(step.high_samples), np.median(step.low_samples)
    )
    mixed = np.abs(np.arange(rates.size) - border + 0.5) < 1
    residuals = np.where(mixed, 0.0, rates - levels)
    values = []
    for _ in range(_RESAMPLES):
        again = _step(phase, np.maximum(rates - residuals + _blocks(residuals, random), 0.0))
        if again is not None:
            values.append(again.volume_bits - refill * again.emptied_s)
    return _range(value, np.array(values))


def _blocks(residuals: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    """Draw residuals in blocks of neighbours, so that what is correlated stays so (Künsch 1989)."""
    starts = random.integers(0, residuals.size, -(-residuals.size // _BLOCK))
    picked = (starts[:, None] + np.arange(_BLOCK)) % residuals.size
    return np.asarray(residuals[picked.ravel()[: residuals.size]])


def _median(values: NDArray[np.float64], random: np.random.Generator) -> Range:
    medians = [np.median(_blocks(values, random)) for _ in range(_RESAMPLES)]
    return _range(float(np.median(values)), np.array(medians))


def _interval(values: NDArray[np.float64], random: np.random.Generator) -> Range:
    picked = random.integers(0, values.size, (_RESAMPLES, values.size))
    return _range(float(np.median(values)), np.median(values[picked], axis=1))


def _range(value: float, resampled: NDArray[np.float64]) -> Range:
    if not resampled.size:
        return Range(value, -np.inf, np.inf)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Range(value, min(float(low), value), max(float(high), value))
