"""Jobs of a batch system: Slurm, or the same machinery on this machine, by submitit.

Partition, account and time limit are those of the user's environment: SBATCH_PARTITION, SBATCH_ACCOUNT and
SBATCH_TIMELIMIT, which sbatch reads itself.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from crosswind.errors import CrosswindError
from crosswind.simulation.sweep.workers import missing_extra

if TYPE_CHECKING:
    import submitit

_JOBS_AT_A_TIME = 16
_TRIES = 3
_TIME_LIMIT_MIN = 60

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


@contextmanager
def open_batch_jobs(cluster: str, count: int | None, folder: Path) -> Iterator[Executor]:
    """Give an executor that has up to `count` jobs in the queue of a batch system.

    Args:
        cluster: `slurm` or `local`.
        folder: for scripts, answers and logs of jobs; every machine of the cluster must reach it by this
            path. Removed at the end, unless something failed.
    Raises: CrosswindError: submitit is not installed, or this machine has no Slurm.
    """
    try:
        import submitit
    except ImportError:
        raise missing_extra(cluster, "submitit", "slurm") from None
    if cluster == "slurm" and shutil.which("sbatch") is None:
        raise CrosswindError(
            "--executor slurm: this machine has no sbatch; run the command on a login node of the cluster"
        )
    system = submitit.AutoExecutor(folder, cluster=cluster)
    system.update_parameters(timeout_min=_TIME_LIMIT_MIN, cpus_per_task=1, name="crosswind")
    with _BatchJobs(system, count or _JOBS_AT_A_TIME) as executor:
        try:
            yield executor
        except BaseException:
            executor.cancel_jobs()
            raise
    shutil.rmtree(folder, ignore_errors=True)


class _BatchJobs(ThreadPoolExecutor):
    """An executor whose calls are jobs; a thread waits for each job that is in the queue."""

    def __init__(self, system: submitit.AutoExecutor, count: int) -> None:
        super().__init__(count)
        self._system = system
        self._lock = threading.Lock()
        self._jobs: set[submitit.Job[object]] = set()
        self._is_cancelled = False

    def submit(
        self,
        function: Callable[_Arguments, _Answer],
        /,
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> Future[_Answer]:
        return super().submit(lambda: self._answer(function, *args, **kwargs))

    def cancel_jobs(self) -> None:
        """End all jobs that are in the queue, so that their threads end too."""
        with self._lock:
            self._is_cancelled = True
            for job in self._jobs:
                job.cancel(check=False)

    def _answer(
        self, function: Callable[_Arguments, _Answer], *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Answer:
        import submitit

        for attempt in range(1, _TRIES + 1):
            with self._lock:
                if self._is_cancelled:
                    raise CancelledError
                job = self._system.submit(_answer_or_error, function, *args, **kwargs)
                self._jobs.add(job)
            try:
                answer: _Answer | CrosswindError = job.result()
            except submitit.core.utils.UncompletedJobError:
                if attempt == _TRIES and not self._is_cancelled:
                    raise CrosswindError(
                        f"job {job.job_id}: ended {_TRIES} times without an answer; "
                        f"its log says why: {job.paths.stderr}"
                    ) from None
                continue
            finally:
                with self._lock:
                    self._jobs.discard(job)
            if isinstance(answer, CrosswindError):
                raise answer
            return answer
        raise CancelledError


def _answer_or_error(
    function: Callable[_Arguments, _Answer], *args: _Arguments.args, **kwargs: _Arguments.kwargs
) -> _Answer | CrosswindError:
    """Return an error as an answer: submitit would make a traceback of it."""
    try:
        return function(*args, **kwargs)
    except CrosswindError as error:
        return error
