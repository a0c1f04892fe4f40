"""Time as it is perceived in nodes that are slowed down: a straight line over real time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from crosswind.spec.resolved.part import ResolvedPart, left_out_if_empty

FACTOR_MAX = 1000

# `handshake`: the first timeout of a SYN and of the answer to one. `cubic`: the growth of windows, HyStart.
TcpClock = Literal["handshake", "cubic"]


class Anchor(ResolvedPart):
    """Both clocks at the instant at which perceived and real time agree."""

    monotonic_ns: int
    realtime_ns: int


class PerceivedTime(ResolvedPart):
    """The line between real and perceived time.

    Attributes:
        factor: how many times slower time passes in the nodes; 1 is the null run, which changes nothing.
        anchor: where the line begins.
        tcp: clocks of the kernel's TCP that are slowed down, too, where the machine allows it.
    """

    factor: int = Field(ge=1, le=FACTOR_MAX)
    anchor: Anchor
    tcp: list[TcpClock] = left_out_if_empty([])

    def perceived_ns(self, real_ns: int) -> int:
        """Return a CLOCK_MONOTONIC instant as nodes perceive it, rounded down."""
        anchor_ns = self.anchor.monotonic_ns
        return anchor_ns + (real_ns - anchor_ns) // self.factor

    def real_ns(self, perceived_ns: int) -> int:
        """Return the first real instant that is perceived as this one."""
        anchor_ns = self.anchor.monotonic_ns
        return anchor_ns + (perceived_ns - anchor_ns) * self.factor

    def real_s(self, perceived_s: float) -> float:
        """Return the real length of a perceived time."""
        return perceived_s * self.factor


# Where nothing is slowed down.
REAL_TIME = PerceivedTime(factor=1, anchor=Anchor(monotonic_ns=0, realtime_ns=0))


def slower_text(dilations: Sequence[int | None]) -> str:
    """Return what every page shows of networks in which time is slowed down; empty where all are real.

    Args:
        dilations: one of each network; None where nothing slows time down.
    """
    slower = list(dict.fromkeys(factor for factor in dilations if factor is not None and factor > 1))
    is_real = len(slower) < len(set(dilations))
    if not slower:
        null = "time: as fast as real time; what slows it is installed, and changes nothing"
        return null if 1 in dilations else ""
    *others, last = map(str, slower)
    many = f"{', '.join(others)} and {last}" if others else last
    some = f"real, and {many} times slower" if is_real else f"{many} times slower"
    by_condition = ", by condition" if is_real or others else ""
    return f"time: {some}{by_condition}; perceived time is shown"
