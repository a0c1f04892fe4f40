"""One-way delays of both directions from what two machines noted on their own clocks. Pure.

The other clock is a straight line over the own one (`results.measurement.clock`). Its bound is that of each
delay: no exchange shows how its two directions differ, so it is about half of the shortest round trip. What
one direction gains by an error of the clock, the other loses.

Where the kernels of both machines say that their wall clocks are synchronised, and how wrong these are at
most, the other clock is bounded once more. What both bounds have in common is often narrower over long
distances, and shows how the two directions differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from crosswind.fingerprint.between.answers import DatagramsExchanged
from crosswind.results.measurement.clock import ClockComparison, ClockLine, line_through
from crosswind.testbed import TestbedError


@dataclass(frozen=True)
class PairDelays:
    """The probes of one direction.

    Attributes:
        delay_ns: in the order of arrival; each at least 1.
        bound_ns: none of them is wrong by more.
        round_trip_ns: of those that were answered, in the order of the answers.
        late_ns: by how much the latest left too late.
        note: what to know of the clocks.
    """

    sent: int
    delay_ns: list[int]
    bound_ns: int
    round_trip_ns: list[int]
    late_ns: int
    note: str | None = None

    @property
    def lost(self) -> int:
        """How many did not arrive."""
        return self.sent - len(self.delay_ns)


def delays_between(near: DatagramsExchanged, far: DatagramsExchanged) -> tuple[PairDelays, PairDelays]:
    """Return the delays from the near end to the far one, and back.

    Raises: TestbedError: a clock was set meanwhile, or is unknown, or more arrived than was sent.
    """
    for sender, receiver in ((near, far), (far, near)):
        numbers = {number for number, _, _ in receiver.arrived}
        if len(numbers) < len(receiver.arrived) or any(number >= sender.sent for number in numbers):
            raise TestbedError("datagrams arrived that were not sent; do all machines have the same agent?")
    line, note = _line(near, far)
    there_ns = [line.here(came_ns) - sent_ns for _, sent_ns, came_ns in far.arrived]
    back_ns = [came_ns - line.here(sent_ns) for _, sent_ns, came_ns in near.arrived]
    there, back = (
        PairDelays(
            sender.sent,
            # A packet takes some time; less is an error of the clock within its bound.
            [max(1, delay_ns) for delay_ns in delays_ns],
            line.bound_ns,
            [came_ns - sent_ns for _, sent_ns, came_ns in sender.answered],
            sender.latest_ns,
            note,
        )
        for sender, delays_ns in ((near, there_ns), (far, back_ns))
    )
    return there, back


def _line(near: DatagramsExchanged, far: DatagramsExchanged) -> tuple[ClockLine, str | None]:
    """Return the far clock over the near one, and what to know of it."""
    comparisons = [known for look in near.clocks if (known := look.comparison()) is not None]
    if not comparisons:
        raise TestbedError("the other clock is unknown: no exchange of datagrams bounds it; measure again")
    if any(look.steps for look in (*near.clocks, *far.clocks)):
        raise TestbedError("a clock was set while it was compared with the other one; measure again")
    skew_ppb, note = near.clocks[-1].skew_ppb, None
    if near.wall.error_ns is not None and far.wall.error_ns is not None:
        # Wall and monotonic clock of a machine run at the same speed, so this holds all the time.
        ahead_ns = (far.wall.now_ns - far.wall.wall_ns) - (near.wall.now_ns - near.wall.wall_ns)
        error_ns = near.wall.error_ns + far.wall.error_ns
        narrowed = [_common(it, ahead_ns, error_ns) for it in comparisons]
        agreeing = [it for it in narrowed if it is not None]
        if len(agreeing) == len(narrowed):
            comparisons = agreeing
        else:
            note = (
                "the wall clocks differ by more than their kernels say, so the bound is from round trips "
                "alone; check NTP"
            )
    return line_through(comparisons, skew_ppb), note


def _common(comparison: ClockComparison, ahead_ns: int, error_ns: int) -> ClockComparison | None:
    """Return a comparison within both bounds; None where they have nothing in common.

    Args:
        ahead_ns: of the other clock, by the wall clocks; wrong by at most `error_ns`.
    """
    offset_ns = comparison.there_ns - comparison.here_ns
    low_ns = max(offset_ns - comparison.bound_ns, ahead_ns - error_ns)
    high_ns = min(offset_ns + comparison.bound_ns, ahead_ns + error_ns)
    if low_ns > high_ns:
        return None
    half_ns = (high_ns - low_ns + 1) // 2
    return ClockComparison(comparison.here_ns, comparison.here_ns + low_ns + half_ns, half_ns)
