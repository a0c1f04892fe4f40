"""Estimates that come with intervals, and the interval of what two of them differ by.

Two measurements of one thing, each known only by its estimate and interval, are set side by side without
going back to their samples: how far an estimate may be off on a side is its distance from that bound, and two
independent errors add up in squares. Nothing is asked of the shape of either; intervals that are longer on
one side keep being so (the method of variance estimates recovery, MOVER). The confidence of the result is
that of the two.

Source: Zou and Donner, Statistics in Medicine 2008; for ratios, the same on logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from crosswind.stats.values import Refused


@dataclass(frozen=True)
class Bounded:
    """An estimate and its interval, in any unit; low <= value <= high."""

    value: float
    low: float
    high: float


def difference_of(base: Bounded, other: Bounded) -> Bounded:
    """Return `other` less `base`."""
    value = other.value - base.value
    below = math.hypot(other.value - other.low, base.high - base.value)
    above = math.hypot(other.high - other.value, base.value - base.low)
    return Bounded(value, value - below, value + above)


def ratio_of(base: Bounded, other: Bounded) -> Bounded:
    """Return `other` over `base`.

    Raises: Refused: a bound is not above 0; a ratio to it says nothing, take the difference.
    """
    logarithms = difference_of(_logarithm(base), _logarithm(other))
    return Bounded(math.exp(logarithms.value), math.exp(logarithms.low), math.exp(logarithms.high))


def _logarithm(estimate: Bounded) -> Bounded:
    if not 0 < estimate.low <= estimate.high < math.inf:
        raise Refused(
            f"ratio: {estimate.low:g} to {estimate.high:g} is not above 0 and finite; take the difference"
        )
    return Bounded(math.log(estimate.value), math.log(estimate.low), math.log(estimate.high))
