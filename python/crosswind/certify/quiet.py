"""Whether a measurement was left alone: by other programs, the hypervisor, and the emulator's own account."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from crosswind.runner.fidelity import judge

# Taking namespaces down costs the kernel a few hundredths of a core that belong to nobody; a program that
# computes takes all of one.
FOREIGN_CORES_MAX = 0.25


class Watch:
    """Watches the machine while the block runs; `disturbed` then says what was wrong, or nothing."""

    def __init__(self) -> None:
        self._measurements: list[Mapping[str, Any]] = []
        self.foreign_cores = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._busy_s, self._own_s = _busy_s(), _own_s()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        took_s = time.monotonic() - self._began
        foreign_s = (_busy_s() - self._busy_s) - (_own_s() - self._own_s)
        self.foreign_cores = max(0.0, foreign_s / took_s)

    def judge(self, measurement: Mapping[str, Any]) -> None:
        """Take the emulator's account of a measurement into the verdict."""
        self._measurements.append(measurement)

    @property
    def disturbed(self) -> str:
        """Why nothing should be concluded; empty where nothing stands against it."""
        if self.foreign_cores > FOREIGN_CORES_MAX:
            # Without the figure, so that what is told of many measurements is one sentence.
            used = f"other programs used more than {FOREIGN_CORES_MAX:g} cores meanwhile"
            return f"{used}; run it on a quiet machine"
        for measurement in self._measurements:
            verdict = judge(measurement)
            # What is void is a fault of the emulator itself and must not be excused as noise.
            if verdict.fidelity == "degraded":
                return f"{verdict.reason}; run it on a quiet machine"
        return ""


def _busy_s() -> float:
    """Return the processor time that all programs and the hypervisor's other guests have used since boot."""
    user, nice, system, _, _, _, _, steal, *_ = (
        int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + steal) / os.sysconf("SC_CLK_TCK")


def _own_s() -> float:
    """Return the processor time of this process and of all descendants that have ended."""
    mine = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in mine)
