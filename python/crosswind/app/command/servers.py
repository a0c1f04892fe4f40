"""Processes that have to stay up while a load runs, and end together."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

# From the first signal to the last: a server that hangs is killed then.
GRACE_S = 3.0


def check_alive(servers: Sequence[Process]) -> None:
    """Check that no server ended under the load.

    Raises: TestbedError: some did; with the last words of each.
    """
    dead = [server for server in servers if server.ended is not None]
    if dead:
        raise TestbedError(
            "; ".join(
                f"{server}: ended under the load ({server.ended}); its last words: {server.last_words()}"
                for server in dead
            )
        )


def stop_all(servers: Sequence[Process]) -> None:
    """End servers, all at once; one that hangs is killed after `GRACE_S`, however many there are."""
    deadline = time.monotonic() + GRACE_S
    running = [server for server in servers if server.ended is None]
    for server in running:
        server.signal(signal.SIGTERM)
    for server in running:
        server.stop(max(0.0, deadline - time.monotonic()))
