"""Find the token bucket behind a network's rates: high and low rate, budget, refill.

The model: a sender that always has data gets the high rate while there are tokens, and the low rate without.
Tokens arrive at the refill all the time, up to the budget. The low rate of a policer *is* its refill. A
controller that switches between two rates has a low rate of its own; that distinguishes the two.

So the volume over time is two lines with a knee. The rates are the slopes, and the bucket is empty where the
lines meet. The budget is the volume carried until then, less the refill of that time. Volumes do not depend
on how they were sampled, but rates do. A program that writes 128 KiB at a time gives samples of 0.1 s at 10
Mbit/s the values 0, 10.5 and 21 Mbit/s, and their median is far from their mean. The refill during a rest
follows from the volume of the phase after it. A duty cycle may need many phases to empty a bucket; then the
missing tokens are tracked through the rests.

Where a burst has only one or two samples, whole periods are the samples instead: `bursts.py`.

A bucket that was not emptied gives a lower bound: the largest number of missing tokens.

Intervals come from resampled traces: each rate gets other noise (`rate_noise.py`), rests are resampled where
there are several, and the figures are computed again. A resampled trace carries another volume; that is no
error of the budget, so the difference is subtracted. Repetitions on other machines say more:
`repeated_bucket.py`.

Source: Uta et al. 2020, "Is Big Data Performance Reproducible in Modern Cloud Networks?", NSDI, section 3.
Their own rule, and its faults: `published_detector.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.network.token_bucket import Kind, TokenBucket
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.bursts import by_period, too_coarse
from crosswind.fingerprint.bucket.knee import STEP_MIN, border, borders, knee, settled, sides, step
from crosswind.fingerprint.bucket.rate_level import RateLevel
from crosswind.stats import Bounded

# Before a phase that is nearly as long as the longest one, a rest may have filled the bucket.
FULL_SHARE = 0.95
# A low rate that differs from the refill by less is the refill.
SAME_SHARE = 0.05
# Fewer rests do not show how much they differ; then the spread of the low rate's samples is used.
_FEW_RESTS = 6
_RESAMPLES = 600

# The lengths of neighbouring samples, and their rates.
_Piece = tuple[NDArray[np.float64], NDArray[np.float64]]


def identify(trace: TrafficTrace, *, refill_bps: float | None = None, seed: int = 1) -> TokenBucket:
    """Return the token bucket behind a trace.

    Args:
        trace: of a sender that always has data, from the first sample on; with rests or without.
        refill_bps: where it is known; otherwise it is estimated from the rests.
        seed: for resampling.
    """
    phases = list(trace.phases())
    if (found := _from_periods(phases, refill_bps, seed)) is not None:
        return found
    fallen = borders(phases)
    random = np.random.default_rng(seed)
    if all(index is None for index in fallen):
        high = RateLevel.of([_high_samples(phase, None) for phase in phases])
        noise = high.noise()
        drawn_levels = [replace(high, rates_bps=high.drawn_rates(noise, random)) for _ in range(_RESAMPLES)]
        at_least = None if refill_bps is None else max(_missing_bits(phases, refill_bps))
        rates = [level.bps for level in (high, *drawn_levels)]
        return TokenBucket(
            kind="not emptied",
            high_bps=_range(rates),
            low_bps=None,
            refill_bps=None,
            emptied_s=None,
            budget_bits=None,
            at_least_bits=at_least,
        )
    emptied = _Emptied(phases, fallen)
    first = emptied.read(refill_bps, None)
    readings = [first, *(emptied.read(refill_bps, random) for _ in range(_RESAMPLES))]
    refills = [one.refill_bps for one in readings if one.refill_bps is not None]
    refill = _range(refills) if refills else None
    return TokenBucket(
        kind=_kind(first.low_bps, refill, refill_bps),
        high_bps=_range([one.high_bps for one in readings]),
        low_bps=_range([one.low_bps for one in readings]),
        refill_bps=refill,
        emptied_s=first.emptied_s,
        budget_bits=_range([one.budget_bits for one in readings]),
        at_least_bits=None,
    )


def _from_periods(phases: list[TrafficTrace], refill_bps: float | None, seed: int) -> TokenBucket | None:
    """Return the bucket found from whole periods, where bursts are too short to show it; else None."""
    periods = by_period(phases) if too_coarse(phases) else None
    if periods is None:
        return None
    trace, on_s, off_s = periods
    emptied = border(trace)
    # The first burst may have both rates; then it is not a high one.
    if emptied is None or emptied < 2:
        return None
    found = identify(trace, refill_bps=refill_bps, seed=seed)
    assert found.low_bps is not None
    assert found.budget_bits is not None
    high, budget = found.high_bps, found.budget_bits
    share, refilled_bits = on_s / (on_s + off_s), found.low_bps.value * off_s
    return found.model_copy(
        update={
            "high_bps": Bounded(*(end / share for end in (high.value, high.low, high.high))),
            "refill_bps": found.low_bps,
            "budget_bits": Bounded(*(end + refilled_bits for end in (budget.value, budget.low, budget.high))),
        }
    )


@dataclass(frozen=True)
class _Reading:
    """The figures of one trace, measured or resampled."""

    high_bps: float
    low_bps: float
    refill_bps: float | None
    emptied_s: float
    budget_bits: float


@dataclass(frozen=True)
class _Rest:
    """A rest of an empty bucket, and the phase after it, in which it was emptied again.

    Attributes:
        low_piece: index of the piece of the low rate in that phase.
    """

    off_s: float
    on_s: float
    bits: float
    low_piece: int

    def high_s(self, high_bps: float, low_bps: float) -> float:
        """Return how long the high rate lasted, from the phase's volume."""
        return (self.bits - low_bps * self.on_s) / (high_bps - low_bps)

    def refill_bps(self, high_bps: float, low_bps: float) -> float:
        """Return the refill during the rest and the high rate after it."""
        high_s = self.high_s(high_bps, low_bps)
        return high_bps * high_s / (self.off_s + high_s)


class _Emptied:
    """A trace in which the bucket was emptied.

    Args:
        phases: between rests.
        borders: of each phase, or None where its rate does not fall.
    """

    def __init__(self, phases: list[TrafficTrace], borders: list[int | None]) -> None:
        self._number, self._border = next(
            (number, index) for number, index in enumerate(borders) if index is not None
        )
        self._phase = phases[self._number]
        self._before = phases[: self._number]
        # Before the bucket is first empty, a phase without a knee is all high. Later it may be all low.
        self._high = RateLevel.of(
            [
                _high_samples(phase, index)
                for number, (phase, index) in enumerate(zip(phases, borders, strict=True))
                if number <= self._number or index is not None
            ]
        )
        self._low = RateLevel.of(
            [
                _samples(phase, sides(phase, index)[1])
                for phase, index in zip(phases, borders, strict=True)
                if index is not None
            ]
        )
        self._high_noise = self._high.noise(self._low)
        self._low_noise = self._low.noise(self._high)
        self._rests: list[_Rest] = []
        self._rests = self._telling(_rests(phases, borders))

    def read(self, known_bps: float | None, random: np.random.Generator | None) -> _Reading:
        """Return the figures of the measured trace, or, with a generator, of a resampled one.

        Args:
            known_bps: the refill, where it is known.
        """
        high, low, phase, rests = self._high, self._low, self._phase, self._rests
        if random is not None:
            high = replace(high, rates_bps=high.drawn_rates(self._high_noise, random))
            low = replace(low, rates_bps=low.drawn_rates(self._low_noise, random))
            phase = self._redrawn_phase(high, low)
            rests = self._redrawn_rests(low, random)
        added_bits = float((phase.bits - self._phase.bits)[: self._border - 1].sum())
        low_bps = low.bps
        # The noise may be larger than the step.
        high_bps = max(high.bps, STEP_MIN * low_bps)
        found = knee(phase, self._border, high_bps, low_bps)
        said_bps = [rest.refill_bps(high_bps, low_bps) for rest in rests]
        refill_bps = float(np.median(said_bps)) if said_bps else None
        used_bps = known_bps if known_bps is not None else refill_bps or low_bps
        missing_bits = _missing_at_begin_bits(self._before, self._phase, used_bps)
        held_bits = missing_bits + found.volume_bits - added_bits - used_bps * found.emptied_s
        begin_s = float(self._phase.begin_s[0] - (self._before or [self._phase])[0].begin_s[0])
        return _Reading(high_bps, low_bps, refill_bps, begin_s + found.emptied_s, held_bits)

    def _redrawn_phase(self, high: RateLevel, low: RateLevel) -> TrafficTrace:
        """Return the resampled phase of the knee.

        The two samples at the knee and slow start stay.
        """
        phase, rates = self._phase, self._phase.rate_bps
        before, behind = sides(phase, self._border)
        # Every phase up to this one has a piece of the high rate; this one has the first of the low rate.
        rates[before] = high.pieces(high.rates_bps)[self._number]
        rates[behind] = low.pieces(low.rates_bps)[0]
        return replace(phase, bits=rates * (phase.end_s - phase.begin_s))

    def _telling(self, rests: list[_Rest]) -> list[_Rest]:
        """Return the rests that did not fill the bucket.

        Those that filled it are followed by the longest phases. Where all phases are equally long, rests are
        used only if their refill equals the low rate: a bucket that they filled would equal it only by
            chance.
        """
        high_bps, low_bps = self._high.bps, self._low.bps
        lasted_s = [rest.high_s(high_bps, low_bps) for rest in rests]
        whole_s = self.read(low_bps, None).budget_bits / (high_bps - low_bps)
        longest_s = max([whole_s, *lasted_s])
        shorter = [
            rest for rest, high_s in zip(rests, lasted_s, strict=True) if 0 < high_s < FULL_SHARE * longest_s
        ]
        if shorter or not rests:
            return shorter
        said_bps = float(np.median([rest.refill_bps(high_bps, low_bps) for rest in rests]))
        return rests if abs(said_bps - low_bps) <= SAME_SHARE * low_bps else []

    def _redrawn_rests(self, low: RateLevel, random: np.random.Generator) -> list[_Rest]:
        """Return resampled rests; where there are few, the same rests with another low rate after them."""
        rests = self._rests
        if len(rests) >= _FEW_RESTS:
            return [rests[pick] for pick in random.integers(0, len(rests), len(rests))]
        added_bits = low.pieces((low.rates_bps - self._low.bps) * low.lengths_s)
        return [replace(rest, bits=rest.bits + float(added_bits[rest.low_piece].sum())) for rest in rests]


def _samples(phase: TrafficTrace, part: slice) -> _Piece:
    return (phase.end_s - phase.begin_s)[part], phase.rate_bps[part]


def _high_samples(phase: TrafficTrace, index: int | None) -> _Piece:
    """Return the samples before a border; without one, all except slow start and an end that may be low."""
    if index is not None:
        return _samples(phase, sides(phase, index)[0])
    fallen = step(phase)
    if fallen is not None:
        return _samples(phase, sides(phase, fallen)[0])
    # The bucket may have been emptied in the last sample, with too little of it low for a step.
    start = min(settled(phase), phase.bits.size - 1)
    return _samples(phase, slice(start, max(start + 1, phase.bits.size - 1)))


def _rests(phases: list[TrafficTrace], borders: list[int | None]) -> list[_Rest]:
    """Return the rests between two phases that emptied the bucket."""
    low_piece = np.cumsum([index is not None for index in borders]) - 1
    return [
        _Rest(
            off_s=float(phases[number].begin_s[0] - phases[number - 1].end_s[-1]),
            on_s=float((phases[number].end_s - phases[number].begin_s).sum()),
            bits=float(phases[number].bits.sum()),
            low_piece=int(low_piece[number]),
        )
        for number in range(1, len(phases))
        if borders[number - 1] is not None and borders[number] is not None
    ]


def _missing_bits(phases: list[TrafficTrace], refill_bps: float) -> list[float]:
    """Return the tokens missing in a bucket at the end of each phase, if it was full at the start."""
    missing, found = 0.0, []
    for number, phase in enumerate(phases):
        if number:
            missing = _after_rest(missing, phases[number - 1], phase, refill_bps)
        lasted_s = float(phase.end_s[-1] - phase.begin_s[0])
        missing = max(0.0, missing + float(phase.bits.sum()) - refill_bps * lasted_s)
        found.append(missing)
    return found


def _missing_at_begin_bits(before: list[TrafficTrace], phase: TrafficTrace, refill_bps: float) -> float:
    """Return the tokens missing in a bucket when a phase begins."""
    if not before:
        return 0.0
    return _after_rest(_missing_bits(before, refill_bps)[-1], before[-1], phase, refill_bps)


def _after_rest(missing_bits: float, before: TrafficTrace, phase: TrafficTrace, refill_bps: float) -> float:
    rest_s = float(phase.begin_s[0] - before.end_s[-1])
    return max(0.0, missing_bits - refill_bps * rest_s)


def _kind(low: float, refill: Bounded | None, given: float | None) -> Kind:
    if refill is not None:
        least, most = refill.low, refill.high
    elif given is not None:
        least = most = given
    else:
        return "undecided"
    near = least * (1 - SAME_SHARE) <= low <= most * (1 + SAME_SHARE)
    return "bucket" if near else "two-state"


def _range(values: list[float]) -> Bounded:
    """Return the first of some values with the interval of the others."""
    value, *resampled = values
    # Ranks among n + 1: otherwise fewer values would give a narrower interval.
    low, high = np.quantile(resampled, [0.025, 0.975], method="weibull")
    return Bounded(value, min(float(low), value), max(float(high), value))
