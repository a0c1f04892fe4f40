"""Worker processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def open_processes(count: int | None) -> Iterator[Executor]:
    """Give as many worker processes as CPUs that this process may use, or `count`."""
    # Not forked from this process, which may have threads.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["crosswind.simulation.sweep.part"])
    number = len(os.sched_getaffinity(0)) if count is None else count
    with ProcessPoolExecutor(number, mp_context=context, initializer=_end_with_parent) as executor:
        yield executor


def _end_with_parent() -> None:
    """End this worker quietly at Ctrl-C, and when the process that started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_await_parent, daemon=True).start()


def _await_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
