"""How long this machine stood still at the worst: what a thread slept longer than it had asked for."""

import os
import threading
import time
from types import TracebackType
from typing import Self

# Often enough to see a standstill, and seldom enough to cost a hundredth of a processor.
STEP_S = 0.002


class Standstill:
    """Looks at the clock while the block runs; `longest_s` then says how long it did not get to."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join()

    def _look(self) -> None:
        # Of this thread alone: the last processor is the emulator's, and what wakes there would make it late.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:-1] or os.sched_getaffinity(0))
        while not self._ends.is_set():
            before_s = time.monotonic()
            time.sleep(STEP_S)
            self.longest_s = max(self.longest_s, time.monotonic() - before_s - STEP_S)
