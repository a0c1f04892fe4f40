"""Run programs in the nodes of a database: until their answer is accepted, or until stopped."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence

from crosswind.app.base import Stage
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import PROBE_INTERVAL_S, Process

READY_S = 60.0
# Time limit for filling a replicated store through a slow network.
FILLED_S = 1800.0


def await_answer(
    stage: Stage,
    node: str,
    name: str,
    command: Sequence[object],
    accept: Callable[[str], bool],
    *,
    alive: Sequence[Process],
    env: Mapping[str, str] | None = None,
    timeout_s: float = READY_S,
) -> str:
    """Repeat a command until its output is accepted, and return the output.

    No other process of the trial may have its name: processes with one name share a log.

    Args:
        accept: whether to accept the output; not called if the command failed.
        alive: processes that must not end meanwhile.

    Raises: TestbedError: one of `alive` ended, or nothing was accepted within `timeout_s`.
    """
    deadline, before = stage.fabric.now_s() + timeout_s, 0  # Characters of its output.
    while True:
        process = stage.fabric.start(node, name, command, cwd=stage.folder, env=env)
        ended = process.wait(timeout_s)
        printed = process.printed()
        said, before = printed[before:], len(printed)
        if ended == Ended(0, None) and accept(said):
            return said
        for server in alive:
            if server.ended is not None:
                raise TestbedError(
                    f"{server}: ended before it was ready ({server.ended}); {server.last_words()}"
                )
        if stage.fabric.now_s() > deadline:
            process.stop(0)
            waited = ", ".join(str(server) for server in alive)
            raise TestbedError(
                f"{waited}: not ready after {timeout_s:g} s; last output of {name}: "
                f"{said.strip() or process.last_words()}"
            )
        time.sleep(PROBE_INTERVAL_S)


def end(server: Process, number: signal.Signals) -> None:
    """Stop a server with a signal, and wait for its clean end, so that its data can be stored.

    Raises: TestbedError: it still runs after `READY_S`.
    """
    server.signal(number)
    if server.wait(READY_S) is None:
        server.stop(0)
        raise TestbedError(
            f"{server}: still running {READY_S:g} s after {number.name}; {server.last_words()}"
        )
