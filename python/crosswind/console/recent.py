"""The last minute as lines of JSON: written once, read by every page at its own pace."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator

from crosswind.stream import Change, Step, Subscription

# A minute of steps of one domain; of a large network as much as fits.
_LINES_MAX = 600
_BYTES_MAX = 16 << 20


class Recent:
    """The last steps; `begin` takes them from a subscription until it ends."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._next = 0  # Number of the line that comes next.
        self._active: list[Change] = []
        self._ended = False

    @property
    def active(self) -> list[Change]:
        """The active condition, and the steps of its timeline that have come."""
        with self._changed:
            return list(self._active)

    def begin(self, steps: Subscription[Step]) -> None:
        """Store each step, until they end, on a thread of its own."""
        threading.Thread(target=self._follow, args=(steps,), daemon=True, name="console-steps").start()

    def _follow(self, steps: Subscription[Step]) -> None:
        for step in steps:
            line = step.model_dump_json(by_alias=True).encode()
            with self._changed:
                for change in step.changes if step.domain == 0 else ():
                    self._active = [*(self._active if change.by == "timeline" else []), change]
                self._lines.append(line)
                self._next += 1
                self._bytes += len(line)
                while len(self._lines) > _LINES_MAX or self._bytes > _BYTES_MAX:
                    self._bytes -= len(self._lines.popleft())
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def lines(self) -> Generator[bytes, None, None]:
        """Yield the last minute, and what comes until the end; where a reader is too slow, what it lost."""
        at = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda at=at: self._next > at or self._ended)  # type: ignore[misc]
                if self._next == at:
                    return
                oldest = self._next - len(self._lines)
                found = list(self._lines)[max(0, at - oldest) :]
                lost, at = (max(0, oldest - at) if at else 0), self._next
            if lost:
                yield b'{"event":"lost","steps":%d}' % lost
            yield from found
