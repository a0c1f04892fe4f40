"""Readiness of a service without a healthcheck or `ready`: it listens on a port. And restarts until then.

If the file names ports of the service (`ports`, `expose`), it must listen on one of these, otherwise on any
port that other nodes can reach.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from crosswind.app.command.readiness import ANYWHERE, Look
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import PROBE_INTERVAL_S, Fabric, Process

# The first start of a fresh image may take long: databases initialise their files.
WITHIN_S = 120.0
# As in docker: the wait before a restart, doubled with each restart.
_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 10.0


def listening_look(fabric: Fabric, node: str, ports: Sequence[str]) -> Look:
    """Look for a socket that other nodes can reach: on one of `ports` (`80/tcp`), or on any TCP port."""

    def look() -> str | None:
        reachable = {*ANYWHERE, fabric.nodes[node].address}
        for listener in fabric.listeners(node):
            is_asked = (
                f"{listener.port}/{listener.protocol}" in ports if ports else listener.protocol == "tcp"
            )
            if is_asked and listener.address in reachable:
                return None
        where = f"port {' or '.join(ports)}" if ports else "any port"
        return (
            f"nothing listens on {where} where other nodes can reach it; write when it is ready with `ready`"
        )

    return look


def await_service(
    process: Process, look: Look, within_s: float, policy: str, start: Callable[[], Process]
) -> Process:
    """Return the process of a service once it is ready; it is a new process if it was restarted.

    Args:
        policy: its `restart`, which decides whether it may end and restart until it is ready.
        start: starts it again.

    Raises: TestbedError: it ended, or was not ready within `within_s`.
    """
    deadline = process.now_s() + within_s
    wait_s, again = _FIRST_WAIT_S, 0.0
    while (lacking := look()) is not None:
        ended = process.ended
        if ended is not None and not may_restart(policy, ended):
            raise TestbedError(_failed(process, f"ended before it was ready ({ended})", lacking))
        if process.now_s() > deadline:
            raise TestbedError(_failed(process, f"not ready after {within_s:g} s", lacking))
        if ended is not None:
            again = again or process.now_s() + wait_s
            if process.now_s() >= again:
                process = start()
                wait_s, again = min(2 * wait_s, _LONGEST_WAIT_S), 0.0
        time.sleep(PROBE_INTERVAL_S)
    return process


def may_restart(policy: str, ended: Ended) -> bool:
    """Return whether a policy restarts a service that ended in this way."""
    return policy in ("always", "unless-stopped") or (policy == "on-failure" and ended != Ended(0, None))


def _failed(process: Process, how: str, lacking: str) -> str:
    return f"{process}: {how}; {lacking}; end of its output: {process.last_words()}"
