"""When a service is ready of which nobody said it: when it listens at a port. And restarts until it is.

A server that others connect to listens somewhere. Where the file names ports (`ports`, `expose`) it is at one
of these; else at any that other nodes can reach.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from crosswind.app.command.listening import ANYWHERE, listening_ports
from crosswind.app.command.readiness import Look
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import PROBE_INTERVAL_S, Process
from crosswind.testbed.replies import Node

# A server in an image may take its time at the first start of a fresh copy: databases write theirs first.
WITHIN_S = 120.0
# What docker waits before a restart, doubled with each of them.
_FIRST_WAIT_S = 0.1
_LONGEST_WAIT_S = 10.0


def listening_look(node: Node, ports: Sequence[str]) -> Look:
    """Look for a socket that other nodes can reach: at one of `ports` (`80/tcp`), or at any of TCP."""

    def look() -> str | None:
        protocols = sorted({port.partition("/")[2] for port in ports}) or ["tcp"]
        for protocol in protocols:
            tables = [Path(f"/proc/{node.pid}/net/{protocol}{version}") for version in ("", "6")]
            text = "".join(table.read_text() for table in tables if table.exists())
            found = listening_ports(text, {*ANYWHERE, node.address}, protocol)
            if any(not ports or f"{port}/{protocol}" in ports for port in found):
                return None
        where = f"port {' or '.join(ports)}" if ports else "any port"
        return f"nothing listens at {where} where other nodes can reach it; say when it is ready with `ready`"

    return look


def await_service(
    process: Process, look: Look, within_s: float, policy: str, start: Callable[[], Process]
) -> Process:
    """Return the process of a service that is ready; another one where it was restarted.

    Args:
        policy: its `restart`, which says whether it may end and start again until it is ready.
        start: starts it again.

    Raises: TestbedError: it ended, or was not ready within `within_s`.
    """
    deadline = time.monotonic() + within_s
    wait_s, again = _FIRST_WAIT_S, 0.0
    while (lacking := look()) is not None:
        ended = process.ended
        if ended is not None and not may_restart(policy, ended):
            raise TestbedError(_failed(process, f"ended before it was ready ({ended})", lacking))
        if time.monotonic() > deadline:
            raise TestbedError(_failed(process, f"not ready after {within_s:g} s", lacking))
        if ended is not None:
            again = again or time.monotonic() + wait_s
            if time.monotonic() >= again:
                process = start()
                wait_s, again = min(2 * wait_s, _LONGEST_WAIT_S), 0.0
        time.sleep(PROBE_INTERVAL_S)
    return process


def may_restart(policy: str, ended: Ended) -> bool:
    """Tell whether a policy restarts a service that ended so."""
    return policy in ("always", "unless-stopped") or (policy == "on-failure" and ended != Ended(0, None))


def _failed(process: Process, how: str, lacking: str) -> str:
    return f"{process}: {how}; {lacking}; its last words: {process.last_words()}"
