"""Decide whether a measurement was disturbed: by other programs, by the hypervisor, or by its own fidelity.

A measurement that the machine disturbed is repeated, because on a shared machine some steal during dozens of
measurements is normal. Whether a try counts depends only on the CPU time that the kernel counted for other
programs and the hypervisor, never on the measured value. So no try is chosen for its result. Lateness of the
emulator itself is a result: it makes a claim undecided, and is not repeated.
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

# Removing namespaces costs the kernel a few hundredths of a core, which count for no program. A program that
# computes takes a whole core.
FOREIGN_CORES_MAX = 0.25


# If one try in three is disturbed, as on a busy afternoon, all five are in 1 of 243 measurements.
TRIES_MAX = 5
# For the whole certificate: a machine that is never quiet costs no more than this.
REPEATED_S_MAX = 120.0
_QUIETER = "run it on a quiet machine"

T = TypeVar("T")


class Watch:
    """Watches the machine while the block runs; `disturbed` then has the disturbance, or is empty."""

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
        """Include the emulator's own figures of a measurement in the verdict."""
        self._measurements.append(measurement)

    @property
    def machine(self) -> str:
        """What other programs or the hypervisor did meanwhile; does not depend on the measured value."""
        if self.foreign_cores > FOREIGN_CORES_MAX:
            # Without the figure, so that it is the same sentence for all measurements.
            used = f"other programs used more than {FOREIGN_CORES_MAX:g} cores meanwhile"
            return f"{used}; {_QUIETER}"
        if self.stolen_s > STEAL_SHARE_MAX * self.took_s or any(map(stolen, self._measurements)):
            return f"the hypervisor stole more than {STEAL_SHARE_MAX:.0%} of the time meanwhile; {_QUIETER}"
        return ""

    @property
    def disturbed(self) -> str:
        """Why there can be no conclusion; empty where there can be one."""
        if self.machine:
            return self.machine
        for measurement in self._measurements:
            verdict = judge(measurement)
            if verdict.fidelity == "degraded":
                return f"{verdict.reason}; {_QUIETER}"
            # A quiet machine would not help. Early and unaccounted packets have their own claims besides.
            if verdict.fidelity == "void":
                return f"the measurement is void: {verdict.reason}"
        return ""


@dataclass(frozen=True)
class Tried(Generic[T]):
    """The results of all tries of a measurement.

    Attributes:
        disturbed: why there can be no conclusion from the try that counts; empty where there can be one.
    """

    results: Sequence[T]
    disturbed: str

    @property
    def result(self) -> T:
        """The result of the last try, which is the one that counts."""
        return self.results[-1]


@dataclass(frozen=True)
class Try:
    """One try of a measurement, and how the machine disturbed it.

    Attributes:
        of: what was measured.
        stolen_s: CPU time that the hypervisor took, of all CPUs together.
        foreign_cores: cores that other programs used.
        repeated: whether it did not count and was repeated.
    """

    of: str
    took_s: float
    stolen_s: float
    foreign_cores: float
    repeated: bool


class Tries:
    """Every try of every measurement of a certificate, in order.

    Args:
        repeated_s_max: total length of the tries that do not count.
    """

    def __init__(self, repeated_s_max: float = REPEATED_S_MAX) -> None:
        self.all: list[Try] = []
        self._left_s = repeated_s_max

    def measure(self, of: str, once: Callable[[Watch], T]) -> Tried[T]:
        """Measure until a try is undisturbed or the limit is reached; return the results.

        Args:
            of: what is measured, for the record.
            once: measures, and passes the emulator's figures to the watch.
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
    """Return the CPU time that all programs have used since boot, and the steal."""
    user, nice, system, _, _, _, _, steal, *_ = (
        int(field) / os.sysconf("SC_CLK_TCK")
        for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return user + nice + system, steal


def _own_s() -> float:
    """Return the CPU time of this process and of all descendants that have ended."""
    mine = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in mine)
