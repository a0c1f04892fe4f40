"""Determine the time that each interval of iperf3 covers. Pure functions.

iperf3 sets its clock to 0 after the intervals that it omits (`-O`). If an interval began before that instant,
the sign of its start is lost: 3.9 writes `start` 0.999986, `end` 1.000081 and `seconds` 2.000067 where it
counted from 0 to 1.000081. So an interval is read as written only if it is about as long as the others, or
reaches from the interval before it to the one after it. Otherwise it starts where the one before it ends (at
0 for the first), if it then has a usual length. Any other interval is refused.

Source: iperf3 3.1.3 to 3.18, `iperf_api.c` (`iperf_reset_stats` and `iperf_time_diff`, which has no sign).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

# Range of a plausible length, relative to the median of all intervals.
_USUAL = (0.5, 2.0)


@dataclass(frozen=True)
class Iperf3Interval:
    """An interval as iperf3 wrote it.

    Attributes:
        place: its place in the file, for messages.
        begin_s, end_s: on iperf3's clock.
        ip_bits: carried in it.
        lasted_s: the duration that iperf3 reports; None where it reports none.
        omitted: whether iperf3 marks it as omitted.
    """

    place: str
    begin_s: float
    end_s: float
    ip_bits: float
    lasted_s: float | None
    omitted: bool

    @property
    def length_s(self) -> float:
        """From its start to its end; not positive where a sign was lost."""
        return self.end_s - self.begin_s

    @property
    def timed_s(self) -> float:
        """The duration that iperf3 reports, if any; otherwise from start to end."""
        return self.length_s if self.lasted_s is None else self.lasted_s


def counted(intervals: Sequence[Iperf3Interval], resolution_s: float) -> list[Iperf3Interval]:
    """Return the intervals that are not omitted, each with the time that it covers.

    Args:
        intervals: in the order of the file.
        resolution_s: of starts and ends in the file.
    Raises: ValueError: the time of an interval is ambiguous; names it and the remedy.
    """
    kept = [each for each in intervals if not each.omitted]
    # iperf3 may end with an interval of no length, which has no rate.
    if kept and 0 <= kept[-1].timed_s < resolution_s:
        kept.pop()
    usual_s = float(np.median([each.timed_s for each in intervals])) if intervals else 0.0
    found: list[Iperf3Interval] = []
    for number, each in enumerate(kept):
        before_s = found[-1].end_s if found else 0.0
        after_s = kept[number + 1].begin_s if number + 1 < len(kept) else each.end_s
        found.append(_covering(each, before_s, after_s, usual_s, resolution_s))
    return found


def _covering(
    each: Iperf3Interval, before_s: float, after_s: float, usual_s: float, resolution_s: float
) -> Iperf3Interval:
    ends_at_next = abs(each.end_s - after_s) <= resolution_s
    fills_its_place = abs(each.begin_s - before_s) <= resolution_s and ends_at_next
    as_timed = abs(each.length_s - each.timed_s) <= resolution_s
    if each.length_s > 0 and as_timed and (fills_its_place or _is_usual(each.length_s, usual_s)):
        return each
    if ends_at_next and _is_usual(each.end_s - before_s, usual_s):
        return replace(each, begin_s=before_s)
    raise ValueError(
        f"{each.place}: is from {each.begin_s:g} s to {each.end_s:g} s, but intervals last {usual_s:g} s, "
        f"the one before it ends at {before_s:g} s and the one after it begins at {after_s:g} s; remove this "
        "interval from the file, or measure again without -O"
    )


def _is_usual(length_s: float, usual_s: float) -> bool:
    shortest, longest = _USUAL
    return shortest * usual_s <= length_s <= longest * usual_s
