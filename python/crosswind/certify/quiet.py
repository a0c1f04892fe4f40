"""Whether a measurement was left alone: by other programs, the hypervisor, and the emulator's own account.

A measurement that the machine disturbed is tried again, because on a shared machine one stolen slice among
dozens of measurements is ordinary. Whether a try counts is decided by what the kernel counted of other
programs and the hypervisor during it, never by what was measured: so none of the tries that count was chosen
for its result. The emulator's own lateness is a result, and makes a claim undecided without another try.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from crosswind.results import Measurement
from crosswind.results.fidelity import STEAL_SHARE_MAX, judge, stolen

# Taking namespaces down costs the kernel a few hundredths of a core that belong to nobody; a program that
# computes takes all of one.
FOREIGN_CORES_MAX = 0.25


# Where one try in three is disturbed, as on a busy afternoon, one measurement in two hundred is after five.
TRIES_MAX = 5
# In all: a machine that never is quiet costs a certificate no more than this.
REPEATED_S_MAX = 120.0
_QUIETER = "run it on a quiet machine"

T = TypeVar("T")


class Watch:
    """Watches the machine while the block runs; `disturbed` then says what was wrong, or nothing."""

    def __init__(self) -> None:
        self._measurements: list[Measurement] = []
        self.foreign_cores = 0.0
        self.stolen_s = 0.0
        self.took_s = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._busy_s, self._stolen_s, self._own_s = *_busy_and_stolen_s(), _own_s()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.took_s = time.monotonic() - self._began
        busy_s, stolen_s = _busy_and_stolen_s()
        self.stolen_s = stolen_s - self._stolen_s
        foreign_s = (busy_s - self._busy_s) - (_own_s() - self._own_s)
        self.foreign_cores = max(0.0, foreign_s / self.took_s)

    def judge(self, measurement: Measurement) -> None:
        """Take the emulator's account of a measurement into the verdict."""
        self._measurements.append(measurement)

    @property
    def machine(self) -> str:
        """What other programs or the hypervisor did meanwhile; nothing that was measured is in it."""
        if self.foreign_cores > FOREIGN_CORES_MAX:
            # Without the figure, so that what is told of many measurements is one sentence.
            used = f"other programs used more than {FOREIGN_CORES_MAX:g} cores meanwhile"
            return f"{used}; {_QUIETER}"
        if self.stolen_s > STEAL_SHARE_MAX * self.took_s or any(map(stolen, self._measurements)):
            return f"the hypervisor stole more than {STEAL_SHARE_MAX:.0%} of the time meanwhile; {_QUIETER}"
        return ""

    @property
    def disturbed(self) -> str:
        """Why nothing should be concluded; empty where nothing stands against it."""
        if self.machine:
            return self.machine
        for measurement in self._measurements:
            verdict = judge(measurement)
            if verdict.fidelity == "degraded":
                return f"{verdict.reason}; {_QUIETER}"
            # No quiet machine mends that. Early and unaccounted packets have claims of their own besides.
            if verdict.fidelity == "void":
                return f"no number of a void measurement is used: {verdict.reason}"
        return ""


@dataclass(frozen=True)
class Tried(Generic[T]):
    """What every try of a measurement gave.

    Attributes:
        disturbed: why nothing should be concluded from the one that counts; empty where nothing stands
            against it.
    """

    results: Sequence[T]
    disturbed: str

    @property
    def result(self) -> T:
        """What the last try gave, which is the one that counts."""
        return self.results[-1]


@dataclass(frozen=True)
class Try:
    """What the machine did to one try of a measurement.

    Attributes:
        of: what was measured.
        stolen_s: by the hypervisor, of all processors together.
        foreign_cores: that other programs used.
        repeated: it did not count, and was tried again.
    """

    of: str
    took_s: float
    stolen_s: float
    foreign_cores: float
    repeated: bool


class Tries:
    """Every try of every measurement of a certificate, in order.

    Args:
        repeated_s_max: how long tries may take together that do not count.
    """

    def __init__(self, repeated_s_max: float = REPEATED_S_MAX) -> None:
        self.all: list[Try] = []
        self._left_s = repeated_s_max

    def measure(self, of: str, once: Callable[[Watch], T]) -> Tried[T]:
        """Measure until the machine has left a try alone, or patience has ended; return what came of it.

        Args:
            of: what is measured, for the record.
            once: measures, and gives the watch the emulator's accounts.
        """
        results: list[T] = []
        while True:
            with Watch() as watch:
                results.append(once(watch))
            repeated = bool(watch.machine) and len(results) < TRIES_MAX and self._left_s > 0
            self.all.append(Try(of, watch.took_s, watch.stolen_s, watch.foreign_cores, repeated))
            if not repeated:
                return Tried(results, watch.disturbed)
            self._left_s -= watch.took_s


def _busy_and_stolen_s() -> tuple[float, float]:
    """Return the processor time that all programs have used since boot, and what the hypervisor took."""
    user, nice, system, _, _, _, _, steal, *_ = (
        int(field) / os.sysconf("SC_CLK_TCK")
        for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return user + nice + system, steal


def _own_s() -> float:
    """Return the processor time of this process and of all descendants that have ended."""
    mine = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in mine)
