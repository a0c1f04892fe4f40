"""The last minute as lines of JSON: written once, read by every page at its own pace."""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from crosswind.stream import (
    Change,
    Event,
    NodeFault,
    OperationsStep,
    Step,
    Subscription,
    TrialEnded,
    active_after,
    faults_after,
)

# A minute of steps of one domain; of a large network as much as fits.
_STEPS_MAX = 600
# Of a run of 300 trials, everything else that happened: some five events for each attempt.
_OTHERS_MAX = 5000
_BYTES_MAX = 16 << 20


class _Lines:
    """The last lines of one sort, with their numbers."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._lines: deque[tuple[int, bytes]] = deque()
        self._bytes = 0

    def add(self, number: int, line: bytes) -> None:
        self._lines.append((number, line))
        self._bytes += len(line)
        while len(self._lines) > self._count_max or self._bytes > _BYTES_MAX:
            self._bytes -= len(self._lines.popleft()[1])

    def since(self, number: int) -> Iterator[tuple[int, bytes]]:
        return iter([line for line in self._lines if line[0] >= number])


class Recent:
    """The last steps, and what else happened; `begin` takes them from a subscription until it ends."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._steps = _Lines(_STEPS_MAX)
        self._operations = _Lines(_STEPS_MAX)
        self._others = _Lines(_OTHERS_MAX)
        self._next = 0  # Number of the line that comes next.
        self._active: list[Change] = []
        self._faults: list[NodeFault] = []
        self._ended = False

    @property
    def active(self) -> list[Change]:
        """The active condition, the steps of its timeline that have come, and cuts by hand."""
        with self._changed:
            return list(self._active)

    @property
    def faults(self) -> list[NodeFault]:
        """The faults of nodes that last."""
        with self._changed:
            return list(self._faults)

    # Any: a stream of steps alone, or of all events of a run.
    def begin(self, events: Subscription[Any]) -> None:
        """Store each event, until they end, on a thread of its own."""
        threading.Thread(target=self._follow, args=(events,), daemon=True, name="console-events").start()

    def _follow(self, events: Subscription[Any]) -> None:
        for event in events:
            self._store(event)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _store(self, event: Event) -> None:
        line = event.model_dump_json(by_alias=True).encode()
        with self._changed:
            self._note_active(event)
            self._lines_of(event).add(self._next, line)
            self._next += 1
            self._changed.notify_all()

    def _note_active(self, event: Event) -> None:
        match event:
            case Step(domain=0):
                for change in event.changes:
                    self._active = active_after(self._active, change)
            case NodeFault():
                self._faults = faults_after(self._faults, event)
            case TrialEnded():
                self._faults = []

    def _lines_of(self, event: Event) -> _Lines:
        match event:
            case Step():
                return self._steps
            case OperationsStep():
                return self._operations
            case _:
                return self._others

    def lines(self) -> Generator[bytes, None, None]:
        """Yield the last minute, and what comes until the end; where a reader is too slow, what it lost."""
        at = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda at=at: self._next > at or self._ended)  # type: ignore[misc]
                if self._next == at:
                    return
                sorts = (self._steps, self._operations, self._others)
                found = [line for _, line in heapq.merge(*(lines.since(at) for lines in sorts))]
                lost, at = (self._next - at - len(found) if at else 0), self._next
            if lost:
                yield b'{"event":"lost","steps":%d}' % lost
            yield from found
