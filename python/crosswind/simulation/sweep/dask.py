"""Workers of a Dask cluster, which outgrow one machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from crosswind.errors import CrosswindError
from crosswind.machine.provenance import tool_version
from crosswind.simulation.sweep.workers import missing_extra

_ANSWER_S = 10
_WORKERS_S = 60


@contextmanager
def open_dask(name: str) -> Iterator[Executor]:
    """Give the workers of the scheduler at `dask://HOST:PORT`.

    A part whose worker was killed is given to another one by the scheduler.

    Raises: CrosswindError: Dask is not installed, no scheduler answers, or it has no workers.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise missing_extra(name, "distributed", "dask") from None
    address = name.replace("dask://", "tcp://", 1)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # What it logs is in the error below.
    try:
        client = Client(address, timeout=_ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        cause = str(error).splitlines()[0]
        raise CrosswindError(
            f"--executor {name}: no Dask scheduler answers there within {_ANSWER_S} s ({cause}); "
            "start one with `dask scheduler`, or correct the address"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKERS_S)
        except TimeoutError:
            raise CrosswindError(
                f"--executor {name}: the scheduler has no workers after {_WORKERS_S} s; "
                f"start some with `dask worker {address}`"
            ) from None
        with client.get_executor() as executor:
            try:
                yield executor
            except KilledWorker as error:
                raise CrosswindError(
                    f"--executor {name}: {error.allowed_failures + 1} workers ended with the same trials; "
                    "look whether they have too little memory, and run the same command again"
                ) from None
            except RuntimeError as error:
                if not isinstance(error.__cause__, ImportError):
                    raise
                raise CrosswindError(
                    f"--executor {name}: scheduler or workers lack a module ({error.__cause__}); "
                    f"install crosswind=={tool_version()} for all of them"
                ) from None
