"""Scale an experiment down for a small machine, and report which ratios stay the same.

Every rate, buffer, burst and budget of the network is multiplied by `scale` and rounded down. Times, packet
sizes, weights and the application's own load do not change.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import overload


@overload
def scaled(value: int, scale: float) -> int: ...
@overload
def scaled(value: None, scale: float) -> None: ...
def scaled(value: int | None, scale: float) -> int | None:
    """Return `value` times `scale`, rounded down; unlimited (None) stays unlimited.

    The product is exact: 512 KiB times 0.1 is 52428, although 0.1 has no exact binary value.
    """
    return None if value is None else int(value * Fraction(repr(scale)))


def unscaled(value: int, scale: float) -> int:
    """Return the smallest number that is at least `value` when scaled."""
    return math.ceil(value / Fraction(repr(scale)))


def preserved(scale: float) -> list[str]:
    """Return what is the same in a scaled and in the full-scale experiment."""
    if scale == 1:
        return ["everything: the experiment runs at full scale"]
    return [
        "rates to each other: shaping, interference and uplink keep their proportions",
        "buffers, bursts and budgets to rates: each fills and drains in the same time",
        "times: propagation, delays, hold, pacing, timeline and TCP's timeouts are as written",
    ]


def not_preserved(scale: float) -> list[str]:
    """Return what differs from the full-scale experiment, as warnings."""
    if scale == 1:
        return []
    times = f"{float(1 / Fraction(repr(scale))):g}"
    return [
        f"scale {scale:g}: a packet takes {times} times as long on the wire, because packets keep their size",
        f"scale {scale:g}: buffers, bursts and bandwidth-delay products hold {times} times fewer packets",
        f"scale {scale:g}: hosts and application are not slowed down, "
        f"so relative to them the network is {times} times slower",
        f"scale {scale:g}: an application's own rate of operations is as written",
    ]
