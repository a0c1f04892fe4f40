"""Workers of a Dask cluster, which outgrow one machine."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from crosswind.errors import CrosswindError
from crosswind.machine.provenance import tool_version
from crosswind.simulation.sweep.workers import missing_extra

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Part

_ANSWER_S = 10
_WORKERS_S = 60

T = TypeVar("T")


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
        try:
            yield _OnCluster(client)
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


class _OnCluster(Executor):
    """Hands work to the workers of a cluster; what is left when the scheduler goes away is cancelled.

    Of Dask's own executor, work whose answer was under way just then is never done.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(self, work: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        part = self._client.submit(work, *arguments, **named)
        loop = self._client.loop.asyncio_loop  # type: ignore[union-attr]
        return asyncio.run_coroutine_threadsafe(self._answer(part), loop)

    async def _answer(self, part: Part[Any]) -> Any:
        try:
            return await self._client.gather(part, asynchronous=True)
        except (OSError, CancelledError):
            # Of the work itself, or of the way to its answer.
            if part.status == "error":
                raise
            raise asyncio.CancelledError from None
