"""Where the parts of a sweep are simulated: an executor by its name on the command line."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from crosswind.errors import CrosswindError
from crosswind.text.nearest import did_you_mean

_DASK = "dask://"
KINDS = ("processes", "dask://HOST:PORT", "slurm", "submitit-local")


@dataclass(frozen=True)
class Workers:
    """An executor that can be opened, more than once where it breaks.

    Attributes:
        name: as on the command line.
        trials_per_part: large enough that handing a part over takes little of the time.
    """

    name: str
    trials_per_part: int
    open: Callable[[], AbstractContextManager[Executor]]


def workers_of(name: str, count: int | None, folder: Path) -> Workers:
    """Return the workers of `--executor NAME --workers COUNT`.

    Args:
        folder: where jobs of a batch system put their files.
    Raises: CrosswindError: no such executor, or its package is missing.
    """
    if name == "processes":
        from crosswind.simulation.sweep.processes import open_processes

        return Workers(name, 20, lambda: open_processes(count))
    if name.startswith(_DASK):
        from crosswind.simulation.sweep.dask import open_dask

        if count is not None:
            raise CrosswindError(f"--workers: the workers of {name} are those that it has; leave it out")
        return Workers(name, 20, lambda: open_dask(name))
    if name in ("slurm", "submitit-local"):
        from crosswind.simulation.sweep.batch_jobs import open_batch_jobs

        cluster = name.removeprefix("submitit-")
        return Workers(name, 500, lambda: open_batch_jobs(cluster, count, folder))
    remedy = did_you_mean(name, KINDS) or f"write one of {', '.join(KINDS)}"
    raise CrosswindError(f'--executor: there is no executor "{name}"; {remedy}')


def missing_extra(name: str, package: str, extra: str) -> CrosswindError:
    """Return the error for an executor whose package is not installed."""
    return CrosswindError(
        f"--executor {name}: needs the package {package}, which is not installed; "
        f"run `pip install 'crosswind[{extra}]'`"
    )
