"""Which operations of a trial the machine's disturbances touched, and what they can have added to each.

An operation is touched if it was under way during a disturbance, or began before the system had recovered
from it. A disturbance only ever adds to an operation, and at most its own length.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crosswind.results.disturbances import Disturbances, joined

# In an open loop a queue built up during a disturbance. It lasts at least this many lengths of it, which is
# what a system at 80 % of its capacity needs: counts of operations under way do not show a short queue.
QUEUE_LENGTHS = 4
# Standard deviations from an expected number: more than 95 % of cases on each side.
SURE = 2.0
# Cells of the time of a trial, in which operations under way are counted.
_CELLS = 50_000
# The fewest blocks of a trial that say how much numbers of operations vary.
_BLOCKS_MIN = 20

Ints = NDArray[np.int64]


class Touched:
    """The operations of a trial, sorted by what disturbances can have done to them.

    Args:
        begun_ns, finished_ns: of each measured operation that succeeded, in any order; at least one.
        disturbed: what the machine did.
        open_loop: whether operations begin at a rate, and not when others end.
    """

    def __init__(
        self, begun_ns: Ints, finished_ns: Ints, disturbed: Disturbances, *, open_loop: bool
    ) -> None:
        self.open_loop = open_loop
        self.unplaced_ns = disturbed.unplaced_ns
        self._begun_ns = begun_ns
        self._first_ns, self._last_ns = int(begun_ns.min()), int(finished_ns.max())
        self.window_ns = max(self._last_ns - self._first_ns, 1)
        self.late_end_ns = 0  # by how much the last operation can have ended too late
        inside = (disturbed.end_ns > self._first_ns) & (disturbed.begin_ns < self._last_ns)
        self._begin_ns, self._end_ns = disturbed.begin_ns[inside], disturbed.end_ns[inside]
        self.none = not len(self._begin_ns) and not self.unplaced_ns
        if len(self._begin_ns):
            self._find(begun_ns, finished_ns)
        else:
            self.periods = np.empty((2, 0), dtype=np.int64)
            self.index = np.empty(0, dtype=np.int64)
            self.added_ns = self.index
            self.before = np.empty(0, dtype=np.bool_)

    def _find(self, begun_ns: Ints, finished_ns: Ints) -> None:
        recovered_ns = self._recovered_ns(begun_ns, finished_ns)
        begin_ns, end_ns = joined(np.column_stack((self._begin_ns, recovered_ns)))
        self.periods = np.stack((begin_ns, end_ns))
        overlap_ns = _elapsed(begin_ns, end_ns, finished_ns) - _elapsed(begin_ns, end_ns, begun_ns)
        self.index = np.flatnonzero(overlap_ns > 0)
        all_ns = finished_ns
        begun_ns, finished_ns = begun_ns[self.index], finished_ns[self.index]
        # All that the disturbances of the periods can have added: those of a period that an operation is in.
        first = np.searchsorted(end_ns, begun_ns, side="right")
        last = np.searchsorted(begin_ns, finished_ns, side="left")
        lengths_ns = np.append(0, np.cumsum(self._end_ns - self._begin_ns))
        of_period = lengths_ns[np.searchsorted(self._begin_ns, np.append(begin_ns, self._last_ns))]
        of_period[-1] = lengths_ns[-1]
        self.added_ns = np.minimum(overlap_ns[self.index], of_period[last] - of_period[first])
        self.late_end_ns = self._last_ns - max(
            int((finished_ns - self.added_ns).max(initial=0)), int(all_ns[self.untouched].max(initial=0))
        )
        # Whether it was under way when a disturbance began.
        own = np.searchsorted(self._begin_ns, begun_ns, side="right")
        following = np.append(self._begin_ns, np.iinfo(np.int64).max)[own]
        self.before = following < finished_ns

    def _recovered_ns(self, begun_ns: Ints, finished_ns: Ints) -> Ints:
        """Return for each disturbance when operations took as long again as without it.

        Open loop: when no more operations are under way than usual, and at least QUEUE_LENGTHS later.
        Closed loop: when those have ended that were under way at its end, but not later than its own length
        after it.
        """
        cell_ns = max(self.window_ns // _CELLS, 10_000)
        cells = self.window_ns // cell_ns + 2
        begun = (begun_ns - self._first_ns) // cell_ns
        at_end = np.clip((self._end_ns - self._first_ns) // cell_ns + 1, 0, cells - 1)
        if not self.open_loop:
            latest_ns = np.full(cells, self._first_ns)
            np.maximum.at(latest_ns, begun, finished_ns)
            latest_ns = np.maximum.accumulate(latest_ns)[at_end]
            longest_ns = 2 * self._end_ns - self._begin_ns
            ended_ns: Ints = np.minimum(np.maximum(latest_ns, self._end_ns), longest_ns)
            return ended_ns
        finished = (finished_ns - self._first_ns) // cell_ns
        under_way = np.cumsum(np.bincount(begun, minlength=cells) - np.bincount(finished, minlength=cells))
        usual = under_way <= np.median(under_way)
        following = np.where(usual, np.arange(cells), cells - 1)
        following = np.minimum.accumulate(following[::-1])[::-1]
        usual_ns = self._first_ns + (following[at_end] + 1) * cell_ns
        recovered_ns: Ints = np.maximum(
            usual_ns, self._end_ns + QUEUE_LENGTHS * (self._end_ns - self._begin_ns)
        )
        return recovered_ns

    @cached_property
    def untouched(self) -> NDArray[np.bool_]:
        """Shape (operations,)."""
        mask = np.ones(len(self._begun_ns), dtype=np.bool_)
        mask[self.index] = False
        return mask

    @cached_property
    def disturbed_ns(self) -> int:
        """The time of all disturbances, with what they took to recover from."""
        begin_ns, end_ns = np.clip(self.periods, self._first_ns, self._last_ns)
        return int((end_ns - begin_ns).sum())

    @cached_property
    def lost_ns(self) -> int:
        """The time of all disturbances with instants."""
        begin_ns = np.clip(self._begin_ns, self._first_ns, self._last_ns)
        return int((np.clip(self._end_ns, self._first_ns, self._last_ns) - begin_ns).sum())

    @cached_property
    def blocks(self) -> int:
        """How many blocks the time of the trial is divided into: each is as long as a disturbed time."""
        many = self.window_ns * max(self.periods.shape[1], 1) // max(self.disturbed_ns, 1)
        return min(max(many, _BLOCKS_MIN), _CELLS)

    @cached_property
    def block_of(self) -> Ints:
        """The block of time that each operation began in."""
        return self._block(self._begun_ns)

    def _block(self, at_ns: Ints) -> Ints:
        since_ns: Ints = np.clip(at_ns - self._first_ns, 0, self.window_ns - 1)
        return since_ns * self.blocks // self.window_ns

    @cached_property
    def quiet_blocks(self) -> NDArray[np.bool_]:
        """Which blocks no disturbed time is in, shape (blocks,)."""
        first, last = self._block(self.periods)
        begun, over = (np.bincount(at, minlength=self.blocks + 1) for at in (first, last + 1))
        quiet: NDArray[np.bool_] = np.cumsum(begun - over)[: self.blocks] == 0
        # Where there is none, the others have to do.
        return quiet if quiet.any() else ~quiet

    @cached_property
    def lost(self) -> float:
        """The greatest number of operations that clients of a closed loop lost; 0 in an open one."""
        if self.open_loop:
            return 0.0
        begin_ns, end_ns = self.periods
        begun_ns = self._begun_ns[self.index]
        own = np.searchsorted(begin_ns, begun_ns, side="right") - 1
        # Those that began in disturbed times, compared with as much of the other times.
        inside = int(np.count_nonzero(begun_ns[own >= 0] < end_ns[own[own >= 0]]))
        quiet_ns = max(self.window_ns - self.disturbed_ns, 1)
        each_ns = quiet_ns / max(len(self._begun_ns) - inside, 1)
        expected = self.disturbed_ns / each_ns
        counts = np.bincount(self.block_of, minlength=self.blocks)[self.quiet_blocks]
        dispersion = float(counts.var()) / max(float(counts.mean()), 1.0)
        spread = SURE * math.sqrt(dispersion * expected * (1 + self.disturbed_ns / quiet_ns)) + 1
        placed = max(0.0, min(expected - inside, self.lost_ns / each_ns) + spread) if expected else 0.0
        if 2 * len(self.index) > len(self._begun_ns):
            # Too few say how many there would have been: as many as in the time that was not lost.
            placed = max(placed, len(self._begun_ns) * self.lost_ns / max(self.window_ns - self.lost_ns, 1))
        unplaced = self.unplaced_ns / (each_ns * max(1 - self.unplaced_ns / self.window_ns, 0.1))
        return placed + unplaced + SURE * math.sqrt(dispersion * unplaced)


def _elapsed(begin_ns: Ints, end_ns: Ints, at_ns: Ints) -> Ints:
    """Return how much of the periods is over at each instant."""
    edges = np.stack((begin_ns, end_ns), axis=1).ravel()
    over = np.cumsum(np.where(np.arange(len(edges)) % 2, np.diff(edges, prepend=0), 0))
    elapsed: Ints = np.interp(at_ns, edges, over).astype(np.int64)
    return elapsed
