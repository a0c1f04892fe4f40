"""What applications with a server share: commands that prepare it, and its end."""

from collections.abc import Mapping, Sequence

from crosswind.app.base import Stage
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import GRACE_S, Process

READY_S = 30.0


def run_to_end(
    stage: Stage,
    node: str,
    name: str,
    command: Sequence[object],
    *,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run a command in a node and return its output; no other process of the trial may have its name.

    Raises: TestbedError: it failed or took longer than `timeout_s`; has the end of its output.
    """
    process = stage.fabric.start(node, name, command, cwd=stage.folder, env=env)
    ended = process.wait(timeout_s)
    if ended is None:
        process.stop(0)
        raise TestbedError(f"{process}: not done after {timeout_s:g} s; {process.last_words()}")
    if ended != Ended(0, None):
        raise TestbedError(f"{process}: {ended}; {process.last_words()}")
    return process.printed()


def stop_servers(stage: Stage, servers: Sequence[Process], grace_s: float = GRACE_S) -> None:
    """Stop servers that must still run: all at once, within 5 s even if several hang.

    Those that were struck down with their node are left out.

    Args:
        grace_s: between SIGTERM and SIGKILL; 0 if nothing needs what a clean end would write.
    Raises: TestbedError: some had ended during the load; has the end of the output of each.
    """
    servers = [server for server in servers if not server.struck_down]
    dead = [server for server in servers if server.ended is not None]
    stage.fabric.stop([server for server in servers if server not in dead], grace_s)
    if dead:
        raise TestbedError(
            "; ".join(
                f"{server}: ended during the load ({server.ended}); {server.last_words()}" for server in dead
            )
        )
