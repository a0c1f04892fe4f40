"""What applications with a server have in common: commands that prepare it, and its end."""

from crosswind.app.base import Stage
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

READY_S = 30.0
# After SIGTERM; these servers end within milliseconds, and SIGKILL ends what does not.
GRACE_S = 3.0


def run_to_end(stage: Stage, node: str, name: str, command: list[object], timeout_s: float = READY_S) -> None:
    """Run a command in a node to its end.

    Raises: TestbedError: it failed or took longer than `timeout_s`; carries its last words.
    """
    process = stage.fabric.start(node, name, command, cwd=stage.folder)
    ended = process.wait(timeout_s)
    if ended is None:
        process.stop(0)
        raise TestbedError(f"{process}: not done after {timeout_s:g} s; {process.last_words()}")
    if ended != Ended(0, None):
        raise TestbedError(f"{process}: {ended}; {process.last_words()}")


def end(server: Process) -> None:
    """End a server that has to have lived until now.

    Raises: TestbedError: it had ended under the load.
    """
    if server.ended is not None:
        raise TestbedError(f"{server}: ended under the load ({server.ended}); {server.last_words()}")
    server.stop(GRACE_S)
