"""Estimates with intervals, and the interval of the difference or ratio of two of them.

Only the two estimates and their intervals are needed, not the samples. The distance from an estimate to a
bound is its error on that side, and independent errors add up in squares (the method of variance estimates
recovery, MOVER). The intervals may have any shape and stay asymmetric. The result has the confidence of the
two intervals.

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
    """Return `other` minus `base`."""
    value = other.value - base.value
    below = math.hypot(other.value - other.low, base.high - base.value)
    above = math.hypot(other.high - other.value, base.value - base.low)
    return Bounded(value, value - below, value + above)


def ratio_of(base: Bounded, other: Bounded) -> Bounded:
    """Return `other` divided by `base`.

    Raises: Refused: a bound is not above 0, so there is no ratio; take the difference.
    """
    logarithms = difference_of(_logarithm(base), _logarithm(other))
    return Bounded(math.exp(logarithms.value), math.exp(logarithms.low), math.exp(logarithms.high))


def _logarithm(estimate: Bounded) -> Bounded:
    if not 0 < estimate.low <= estimate.high < math.inf:
        raise Refused(
            f"ratio: {estimate.low:g} to {estimate.high:g} is not above 0 and finite; take the difference"
        )
    return Bounded(math.log(estimate.value), math.log(estimate.low), math.log(estimate.high))
