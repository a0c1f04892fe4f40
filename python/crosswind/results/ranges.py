"""How far the machine's disturbances can have moved the figures of a trial.

A touched operation would have taken between what it took less the disturbance and what it took. Which of
these is unknown, and it makes a difference when the operation began:

* before the disturbance: any value between the two is possible, and both ends are tried;
* during or after it: which operations these are does not depend on how long they take. They would have taken
  as long as untouched ones do, and their number below a value varies as much as that of untouched ones.

In a closed loop clients also lose time. The operations that they would have done in it are like untouched
ones.
Steal without instants hits operations at random, in slices of at least SLICE_NS_MIN.

The reasons, and how often such a range holds the undisturbed figure: docs/decisions/0030-ranges.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crosswind.results.touched import SURE, Ints, Touched

# Hypervisors run another machine for at least this long (0.75 ms: the least slice of Linux's scheduler).
SLICE_NS_MIN = 750_000
# A longer one is a stall.
SLICE_NS_MAX = 20_000_000
_SLICES = 12
# One more operation is possible where this many are expected.
UNLIKELY = 0.05
# The fewest untouched operations that say how long a touched one would have taken.
UNTOUCHED_MIN = 30

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Range:
    """What a figure may have been without the machine's disturbances; it holds the figure itself."""

    low: float
    high: float


class Durations:
    """One duration (of all operations, or of those of a kind) and the ranges of its statistics.

    Args:
        touched: of all operations of the trial.
        duration_ns: of each operation.
        chosen: which operations count; None for all.
    """

    def __init__(self, touched: Touched, duration_ns: Ints, chosen: NDArray[np.bool_] | None = None) -> None:
        self._touched = touched
        index, added_ns, before = touched.index, touched.added_ns, touched.before
        untouched = touched.untouched
        share = 1.0
        if chosen is not None:
            kept = chosen[index]
            index, added_ns, before = index[kept], added_ns[kept], before[kept]
            untouched = untouched & chosen
            share = float(chosen.mean())
        self._all_ns = duration_ns if chosen is None else duration_ns[chosen]
        self._block_of = touched.block_of if chosen is None else touched.block_of[chosen]
        self._counts = np.bincount(self._block_of, minlength=touched.blocks)
        self._quiet_ns = np.sort(duration_ns[untouched])
        few = len(self._quiet_ns) < UNTOUCHED_MIN
        high_ns = duration_ns[index]
        floor_ns = 0 if few else self._quiet_ns[0]
        low_ns = np.minimum(np.maximum(high_ns - added_ns, floor_ns), high_ns)
        either = before | few
        # Those of which both ends are tried, and those that are like untouched ones within their bounds.
        self._either_low, self._either_high = np.sort(low_ns[either]), np.sort(high_ns[either])
        self._low_ns, self._high_ns = low_ns[~either], high_ns[~either]
        self._like = _Like(self._quiet_ns, self._low_ns, self._high_ns)
        self._many = len(self._quiet_ns) + len(index)
        self._lost = share * touched.lost

    def quantile(self, p: float, measured: float) -> Range:
        """Return the range of a quantile of type 7."""
        if self._touched.none:
            return Range(measured, measured)
        rank, spread = p * (self._many - 1), self._spread(measured)
        # Of a few lost operations none may be above it; its rank among the others is then lower.
        low = self._at(rank - min((1 - p) * self._lost, 1.0), lambda x: self._most_below(x, p, spread))
        if self._touched.open_loop:
            # Without a disturbance no operation takes longer, and there are not more of them.
            return Range(min(low, measured), measured)
        high = self._at(rank, lambda x: self._least_below(x, p, spread))
        return Range(min(low, measured), max(high, measured))

    def mean(self, measured: float) -> Range:
        """Return the range of the mean."""
        if self._touched.none:
            return Range(measured, measured)
        quiet_ns = self._quiet_ns
        typical, spread = (quiet_ns.mean(), quiet_ns.std()) if len(quiet_ns) else (0.0, 0.0)
        like = np.clip(typical, self._low_ns, self._high_ns).sum()
        unknown = len(self._low_ns) + self._lost
        noise = SURE * spread * np.sqrt(self._spread(measured) * unknown)
        total = quiet_ns.sum() + like + self._lost * typical
        many = self._many + self._lost
        low = float(total + self._either_low.sum() - noise - self._unplaced_sum()) / many
        if self._touched.open_loop:
            return Range(min(low, measured), measured)
        # Clients do nothing but wait: with more operations in the same time, each is shorter.
        low = min(low, measured * self._many / many)
        high = float(total + self._either_high.sum() + noise) / many
        return Range(min(low, measured), max(high, measured))

    def share_over(self, limit_ns: int, measured: float) -> Range:
        """Return the range of the share of operations that take longer than a limit."""
        if self._touched.none:
            return Range(measured, measured)
        upto = int(np.searchsorted(self._quiet_ns, limit_ns, side="right"))
        # Operations that were lost are like untouched ones. At most `_lost` were, so both ends are tried.
        p = upto / len(self._quiet_ns) if len(self._quiet_ns) else 1 - measured
        spread = self._spread(limit_ns)

        def over(below: float) -> list[float]:
            known, slow = max(self._many - below, 0.0), measured * self._many
            if abs(known - slow) < UNLIKELY:
                known = slow
            return [(known + (1 - p) * lost) / (self._many + lost) for lost in (0.0, self._lost)]

        low = min(*over(self._most_below(limit_ns, p, spread)), measured)
        if self._touched.open_loop:
            return Range(low, measured)
        return Range(low, max(*over(self._least_below(limit_ns, p, spread)), measured))

    def _at(self, rank: float, below: Callable[[float], float]) -> float:
        """Return the value of a rank (from 0; between two values where it is no whole number)."""
        rank = min(max(rank, 0.0), self._many - 1.0)
        lower, part = int(rank), rank - int(rank)
        value = self._inverse(lower + 1, below)
        return value if not part else value + part * (self._inverse(lower + 2, below) - value)

    def _inverse(self, many: int, below: Callable[[float], float]) -> int:
        """Return the smallest value that at least `many` operations do not exceed."""
        low, high = -1, int(self._all_ns.max())
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if below(middle) >= many - 1e-9 else (middle, high)
        return high

    def _most_below(self, x: float, p: float, spread: float) -> float:
        """Return how many operations would not have exceeded `x`, the shorter end of each tried."""
        count = np.searchsorted(self._quiet_ns, x, side="right")
        count += np.searchsorted(self._either_low, x, side="right")
        expected, chance = self._unknown_below(x, p, spread)
        return float(count) + expected + chance + self._crossed(x)

    def _least_below(self, x: float, p: float, spread: float) -> float:
        """Return how many operations would not have exceeded `x`, the longer end of each tried."""
        count = np.searchsorted(self._quiet_ns, x, side="right")
        count += np.searchsorted(self._either_high, x, side="right")
        expected, chance = self._unknown_below(x, p, spread)
        return float(count) + expected - chance

    def _unknown_below(self, x: float, p: float, spread: float) -> tuple[float, float]:
        """Return the expected number of unknown operations below `x`, and by how much it can differ.

        Of the operations that were lost a share of `p` is below on average, which moves nothing. By one at
        least, unless that is unlikely.
        """
        expected, variance = self._like.below(x)
        variance = spread * (variance + self._lost * p * (1 - p))
        return expected, max(SURE * float(np.sqrt(variance)), float(variance > UNLIKELY))

    def _spread(self, value: float) -> float:
        """Return by how much more the number of operations below a value varies than by pure chance."""
        quiet, many = self._touched.quiet_blocks, self._touched.blocks
        counts = self._counts[quiet]
        lower = np.bincount(self._block_of[self._all_ns <= value], minlength=many)[quiet]
        p = lower.sum() / max(counts.sum(), 1)
        if not 0 < p < 1:
            return 1.0
        return max(1.0, float(((lower - p * counts) ** 2).sum() / (p * (1 - p) * counts.sum())))

    def _crossed(self, x: float) -> float:
        """Return how many operations at most would not have exceeded `x` without steal, and did."""
        stolen_ns, window_ns = self._touched.unplaced_ns, self._touched.window_ns
        if not stolen_ns:
            return 0.0
        slice_ns = self._slice_ns
        upto = np.searchsorted(self._quiet_ns, x, side="right")
        # Searched with another type, the whole array would be converted, for every `x`.
        before = np.searchsorted(self._quiet_ns, (x - slice_ns).astype(np.int64), side="right")
        sums_ns = self._sums_ns[upto] - self._sums_ns[before]
        # An operation is hit as often as slices begin while it is under way; in an open loop those that
        # begin during a slice wait as well, and those that its queue holds up.
        reach_ns = sums_ns + (2 * slice_ns * (upto - before) if self._touched.open_loop else 0)
        slices = stolen_ns / slice_ns
        expected = reach_ns * slices / window_ns
        each = 1 + expected / slices
        return float((expected + SURE * np.sqrt(expected * each)).max())

    @cached_property
    def _slice_ns(self) -> Floats:
        """Lengths that the slices of steal can have had."""
        stolen_ns = self._touched.unplaced_ns
        return np.geomspace(min(SLICE_NS_MIN, stolen_ns), min(SLICE_NS_MAX, stolen_ns), _SLICES)

    @cached_property
    def _sums_ns(self) -> Floats:
        return np.append(0.0, np.cumsum(self._quiet_ns, dtype=np.float64))

    def _unplaced_sum(self) -> float:
        """Return by how much steal without instants can have lengthened all operations together."""
        stolen_ns = self._touched.unplaced_ns
        under_way = self._quiet_ns.sum() / self._touched.window_ns
        if self._touched.open_loop:
            under_way += len(self._quiet_ns) * min(SLICE_NS_MAX, stolen_ns) / self._touched.window_ns
        return float(stolen_ns * under_way)


class _Like:
    """Operations that would have taken as long as untouched ones do, each within its own bounds.

    Args:
        quiet_ns: durations of untouched operations, in order.
        low_ns, high_ns: bounds of each operation.
    """

    def __init__(self, quiet_ns: Ints, low_ns: Ints, high_ns: Ints) -> None:
        self._quiet_ns = quiet_ns
        by_low, by_high = np.argsort(low_ns), np.argsort(high_ns)
        # In order, a million of them are found five times as fast.
        below_low, below_high = np.empty(len(low_ns)), np.empty(len(low_ns))
        below_low[by_low] = np.searchsorted(quiet_ns, low_ns[by_low], side="left")
        below_high[by_high] = np.searchsorted(quiet_ns, high_ns[by_high], side="right")
        within = below_high - below_low
        # The chance to be below x is (untouched ones below x - below_low) / within. Its sum and the sum of
        # its squares over all operations with x within their bounds are sums of these terms. Where no
        # untouched one is within the bounds, an operation is taken to have lasted as long as was measured.
        each = np.divide(1.0, within, out=np.zeros_like(below_low), where=within > 0)
        terms = np.stack((each, below_low * each, each**2, below_low * each**2, (below_low * each) ** 2))
        self._entered = _Sums(low_ns, terms, by_low)
        self._left = _Sums(high_ns, terms, by_high)

    def below(self, x: float) -> tuple[float, float]:
        """Return mean and variance of the number of operations that do not exceed `x`."""
        _, entered = self._entered.upto(x)
        certain, left = self._left.upto(x)
        each, low, each2, low2, lows2 = (entered - left).tolist()
        untouched = float(np.searchsorted(self._quiet_ns, x, side="right"))
        chance = max(untouched * each - low, 0.0)
        squares = untouched * untouched * each2 - 2 * untouched * low2 + lows2
        return certain + chance, max(chance - squares, 0.0)


class _Sums:
    """Sums of terms over all operations whose duration is at most a value."""

    def __init__(self, at_ns: Ints, terms: Floats, order: NDArray[np.intp]) -> None:
        self._at_ns = at_ns[order]
        self._sums = np.concatenate((np.zeros((len(terms), 1)), np.cumsum(terms[:, order], axis=1)), axis=1)

    def upto(self, x: float) -> tuple[int, Floats]:
        """Return how many they are, and the sum of each term."""
        many = int(np.searchsorted(self._at_ns, x, side="right"))
        return many, self._sums[:, many]


def throughput(touched: Touched, measured: float) -> Range:
    """Return the range of the number of operations per unit of time.

    A closed loop would have done more of them. An open one keeps its rate: only the end can have been later.
    """
    if touched.none:
        return Range(measured, measured)
    many = len(touched.untouched)
    if not touched.open_loop:
        return Range(measured, measured * (1 + touched.lost / many))
    return Range(measured, measured * touched.window_ns / max(touched.window_ns - touched.late_end_ns, 1))
