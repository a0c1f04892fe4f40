"""The longest stall of this machine: the time by which a sleeping thread woke up too late."""

import os
import threading
import time
from types import TracebackType
from typing import Self

# Short enough to detect stalls, and long enough to use 1 % of a CPU.
STEP_S = 0.002


class Stalls:
    """Watches the clock while the block runs; `longest_s` is then the longest stall."""

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
        # This thread must not run on the last CPU, which is the emulator's, because it would delay the
        # emulator.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:-1] or os.sched_getaffinity(0))
        while not self._ends.is_set():
            before_s = time.monotonic()
            time.sleep(STEP_S)
            self.longest_s = max(self.longest_s, time.monotonic() - before_s - STEP_S)
