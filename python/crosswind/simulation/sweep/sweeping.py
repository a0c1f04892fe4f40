"""Simulate many trials with any executor, and store them.

The executor is one of `concurrent.futures`, so where the workers are is nobody's business here. They only
compute; this process writes what they return. A part whose worker was killed is submitted again, and trials
that the folder has already are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from dataclasses import dataclass

from crosswind.errors import CrosswindError
from crosswind.plan import planned
from crosswind.simulation.sweep.folder import SweepFolder
from crosswind.simulation.sweep.part import Part, SweptTrial, parts_of, simulate_part
from crosswind.simulation.sweep.workers import Workers
from crosswind.simulation.trials import require_simulated
from crosswind.spec import Resolved

# A killed writer costs the trials of this time at most; each file costs some 20 ms.
STORE_EVERY_S = 5.0
# An executor that breaks this often without one answer in between breaks because of what it is given.
_BREAKS_MAX = 3


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        stored: trials that the folder had at the start.
        simulated: trials since then.
        restarts: how often workers were started again, because one was killed.
    """

    trials: int
    stored: int
    simulated: int
    restarts: int
    elapsed_s: float

    @property
    def per_s(self) -> float:
        """Trials simulated in a second."""
        return self.simulated / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def left_s(self) -> float | None:
        """Seconds that the rest takes at the same speed; None before the first answer."""
        left = self.trials - self.stored - self.simulated
        return left / self.per_s if self.simulated else None


def sweep(
    resolved: Resolved, folder: SweepFolder, workers: Workers, shown: Callable[[Progress], None]
) -> Progress:
    """Simulate the trials of an experiment that a folder lacks, and store them.

    Args:
        shown: called with the progress as answers come.
    Raises: CrosswindError: a trial cannot be simulated, or there are no workers; what came before is stored.
    """
    require_simulated(resolved)
    with folder.writing():
        return _Sweep(resolved, folder, workers, shown).run()


class _Sweep:
    def __init__(
        self, resolved: Resolved, folder: SweepFolder, workers: Workers, shown: Callable[[Progress], None]
    ) -> None:
        trials, there = planned(resolved), folder.trials()
        missing = [trial for trial in trials if trial.id not in there]
        machine = folder.facts().machine
        self._resolved, self._folder, self._workers, self._shown = resolved, folder, workers, shown
        self._left = list(parts_of(resolved, missing, machine, workers.trials_per_part))
        self._trials, self._stored = len(trials), len(trials) - len(missing)
        self._simulated, self._restarts = 0, 0
        self._unwritten: list[SweptTrial] = []
        self._file = folder.next_file()
        self._started_s = self._written_s = time.monotonic()

    def run(self) -> Progress:
        breaks = 0
        try:
            while self._left:
                before = self._simulated
                with self._workers.open() as executor:
                    self._left = self._once(executor, self._left)
                if self._left:
                    self._restarts += 1
                    breaks = 0 if self._simulated > before else breaks + 1
                if breaks == _BREAKS_MAX:
                    raise CrosswindError(
                        f"the workers ended {breaks} times without an answer, in or before trial "
                        f"{self._left[0].trials[0].id}; look whether they have too little memory, and run "
                        "the same command again"
                    )
        finally:
            self._write()
        return self._progress()

    def _once(self, executor: Executor, parts: Sequence[Part]) -> list[Part]:
        """Return the parts that were lost because the executor broke."""
        lost: list[Part] = []
        futures: dict[Future[list[SweptTrial]], Part] = {}
        try:
            for part in parts:
                try:
                    futures[executor.submit(simulate_part, part)] = part
                except BrokenExecutor:
                    lost.append(part)
            for future in as_completed(futures):
                try:
                    self._take(future.result())
                except BrokenExecutor:
                    lost.append(futures[future])
        except CancelledError:
            raise CrosswindError(
                f"{self._workers.name}: has gone away; start it and run the same command again, which goes on"
            ) from None
        finally:
            for future in futures:
                future.cancel()
        return lost

    def _take(self, trials: list[SweptTrial]) -> None:
        self._unwritten += trials
        self._simulated += len(trials)
        if time.monotonic() >= self._written_s + STORE_EVERY_S:
            self._write()
        self._shown(self._progress())

    def _write(self) -> None:
        if self._unwritten:
            self._folder.store(self._file, self._unwritten, self._resolved)
            self._unwritten = []
            self._file += 1
        self._written_s = time.monotonic()

    def _progress(self) -> Progress:
        elapsed_s = time.monotonic() - self._started_s
        return Progress(self._trials, self._stored, self._simulated, self._restarts, elapsed_s)
