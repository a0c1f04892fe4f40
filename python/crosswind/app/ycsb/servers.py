"""Run programs in the nodes of a database: to their end, until they answer well, until told to end."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence

from crosswind.app.base import Stage
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import PROBE_INTERVAL_S, Process
from crosswind.testbed.outputs import HEAD_BYTES

READY_S = 60.0
# Filling a replicated store through a slow network is not what is measured, but it must end.
FILLED_S = 1800.0


def run_to_end(
    stage: Stage,
    node: str,
    name: str,
    command: Sequence[object],
    *,
    env: Mapping[str, str] | None = None,
    timeout_s: float = READY_S,
) -> str:
    """Run a command in a node and return what it printed; its name must be its own in this trial.

    Raises: TestbedError: it failed or took longer than `timeout_s`; carries its last words.
    """
    process = stage.fabric.start(node, name, command, cwd=stage.folder, env=env)
    ended = process.wait(timeout_s)
    if ended is None:
        process.stop(1)
        raise TestbedError(f"{process}: not done after {timeout_s:g} s; {process.last_words()}")
    if ended != Ended(0, None):
        raise TestbedError(f"{process}: {ended}; {process.last_words()}")
    return process.printed()


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
    """Run a command again and again until what it prints is accepted; return that.

    Its name must be its own in this trial: processes of one name share a log, and here each reads its part.

    Args:
        accept: not asked about the output of a command that failed.
        alive: processes that must stay up meanwhile.

    Raises: TestbedError: one of `alive` ended, or nothing was accepted within `timeout_s`.
    """
    deadline, before = time.monotonic() + timeout_s, 0
    while True:
        process = stage.fabric.start(node, name, command, cwd=stage.folder, env=env)
        ended = process.wait(timeout_s)
        with process.stdout.open("rb") as log:
            log.seek(before)
            said = log.read(HEAD_BYTES).decode(errors="replace")
            before = log.seek(0, 2)
        if ended == Ended(0, None) and accept(said):
            return said
        for server in alive:
            if server.ended is not None:
                raise TestbedError(
                    f"{server}: ended before it was ready ({server.ended}); {server.last_words()}"
                )
        if time.monotonic() > deadline:
            process.stop(0)
            waited = ", ".join(str(server) for server in alive)
            raise TestbedError(
                f"{waited}: not ready after {timeout_s:g} s; {name} said last: "
                f"{said.strip() or process.last_words()}"
            )
        time.sleep(PROBE_INTERVAL_S)


def end(server: Process, number: signal.Signals) -> None:
    """Send a signal that ends a server whose data are kept, and wait for its clean end.

    Raises: TestbedError: it is still there after `READY_S`.
    """
    server.signal(number)
    if server.wait(READY_S) is None:
        server.stop(0)
        raise TestbedError(f"{server}: still there {READY_S:g} s after {number.name}; {server.last_words()}")
