"""Ratios in words: 29 times lower or 18 % higher, never 0.0346 times.

A change below a factor of two is shown as a percentage of the other value, a larger one as a factor.
"""

import math

from crosswind.text.units import percent, times

_FACTOR_MIN = 2.0  # from here on, a ratio is shown as a factor
_SAME_SHARE = 5e-5  # below it the percentage would be 0.00


def change(ratio: float | None, less: str = "lower", more: str = "higher") -> str:
    """Return how far a value is from another one; `-` where that is unknown.

    Args:
        ratio: the value over the other one, at least 0.
        less, more: words for a ratio below and above 1.
    """
    if ratio is None or math.isnan(ratio):
        return "-"
    if abs(ratio - 1) < _SAME_SHARE:
        return "the same"
    return f"{_distance(ratio)} {less if ratio < 1 else more}"


def change_interval(low: float, high: float, less: str = "lower", more: str = "higher") -> str:
    """Return the interval of a change.

    Bounds on one side of 1 have no word, because the estimate is on that side and has one. Around 1, two
    percentages have signs, and all else has words.
    """
    if low >= 1 or high <= 1:
        near, far = (_distance(bound) for bound in ((low, high) if low >= 1 else (high, low)))
        if math.isinf(low) or math.isinf(high) or low <= 0:
            return f"at least {near}"
        unit = far[-2:]
        return f"{near.removesuffix(unit)} - {far}"
    if low > 1 / _FACTOR_MIN and high < _FACTOR_MIN:
        return f"-{_distance(low)} to +{_distance(high)}"
    return f"{change(low, less, more)} to {change(high, less, more)}"


def speed_change(slowdown: float) -> str:
    """Return a slowdown, a ratio of durations, as `25 % slower` or `18 % faster`.

    Faster refers to the speed: 0.8 times the duration is 25 % faster.
    """
    return change(1 / slowdown if slowdown < 1 else slowdown, more="faster" if slowdown < 1 else "slower")


def speed_interval(low: float, high: float) -> str:
    """Return the interval of a slowdown in the words of `speed_change`."""
    if low >= 1 or high <= 1:
        return change_interval(low, high) if low >= 1 else change_interval(1 / high, 1 / low)
    return f"{speed_change(low)} to {speed_change(high)}"


def _distance(ratio: float) -> str:
    """Return how far a ratio is from 1, as a percentage or as a factor."""
    factor = max(ratio, 1 / ratio) if ratio > 0 else math.inf
    if math.isinf(factor):
        return "unboundedly"
    return times(factor) if factor >= _FACTOR_MIN else percent(abs(ratio - 1))
