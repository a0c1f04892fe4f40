"""The network of the trial that runs, moved by hand: such an attempt explores, and counts for nothing.

Moves come from other threads, such as those of the console; the trial opens its network for them.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from crosswind.errors import CrosswindError
from crosswind.results.measurement import DRAG_NS
from crosswind.spec import FabricCondition
from crosswind.stream import Event, Stream, TrialMoved
from crosswind.testbed import Fabric


@dataclass(frozen=True)
class HandMove:
    """What was moved in a trial.

    Attributes:
        at_ns: when its first value became active, in ns of CLOCK_MONOTONIC.
        last_ns: when its last value did; a slider is dragged through several.
        words: the last value, such as `delay of all links of hosts: 20 ms`.
        of: equal for moves of the same thing.
    """

    at_ns: int
    last_ns: int
    words: str
    of: Hashable


@dataclass(frozen=True)
class OpenTrial:
    """A trial whose network can be moved; `at_ns` is when its condition became active."""

    name: str
    condition: str
    at_ns: int


class Steering:
    """Changes the condition of the trial that runs, and notes that somebody did; any thread may call it."""

    def __init__(self, stream: Stream[Event]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._attempt = ""
        self._fabric: Fabric | None = None
        self._trial: OpenTrial | None = None
        self._moves: list[HandMove] = []

    @property
    def trial(self) -> OpenTrial | None:
        """The last trial whose network could be moved."""
        with self._lock:
            return self._trial

    @property
    def moves(self) -> tuple[HandMove, ...]:
        """The moves of the attempt that runs, or of the last one."""
        with self._lock:
            return tuple(self._moves)

    def begin(self, attempt: str) -> None:
        """Note that an attempt begins, in which nothing has been moved."""
        with self._lock:
            self._attempt, self._moves = attempt, []

    @contextmanager
    def opened(self, fabric: Fabric, condition: str, at_ns: int) -> Iterator[None]:
        """Let moves change a network while the block runs.

        Args:
            condition, at_ns: the trial's condition, and when it became active.
        """
        with self._lock:
            self._fabric, self._trial = fabric, OpenTrial(self._attempt, condition, at_ns)
        try:
            yield
        finally:
            with self._lock:
                self._fabric = None

    def set(self, condition: FabricCondition, words: str, of: Hashable) -> int:
        """Change the condition; return the instant from which it is active, in ns of CLOCK_MONOTONIC.

        Args:
            words, of: as in `HandMove`.
        Raises: CrosswindError: no trial is in a state in which its network can be moved.
        """
        with self._lock:
            if self._fabric is None:
                raise CrosswindError("no trial can be steered now; wait until the load of one runs")
            at_ns = self._fabric.set(condition)
            last = self._moves[-1] if self._moves else None
            if last is not None and last.of == of and at_ns - last.last_ns < DRAG_NS:
                self._moves[-1] = HandMove(last.at_ns, at_ns, words, of)
            else:
                self._moves.append(HandMove(at_ns, at_ns, words, of))
                self._stream.publish(TrialMoved(trial=self._attempt, at_ns=at_ns, words=words))
            return at_ns

    def explored(self, start_ns: int | None = None) -> str:
        """Return what was moved in the attempt, in words; empty where nothing was.

        Args:
            start_ns: from which the first move counts; the trial's condition became active when absent.
        """
        with self._lock:
            if not self._moves or self._trial is None:
                return ""
            first, number = self._moves[0], len(self._moves)
            after_s = (first.at_ns - (self._trial.at_ns if start_ns is None else start_ns)) / 1e9
            when = f"{abs(after_s):.2f} s {'before' if after_s < 0 else 'after'} the start"
            moves = f"{number} move" if number == 1 else f"{number} moves, the first"
            return f"explored by hand: {moves} {when} ({first.words})"
