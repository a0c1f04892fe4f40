"""Start an MPI program across nodes: `mpirun` on the first node, a daemon of Open MPI on every other.

`mpirun` starts its daemons through a remote shell, which nodes do not have. Instead, the script that it uses
as its remote shell writes the command line of a daemon into a named pipe on the first node, where a process
waits for it. The runner reads that process's output, starts the daemon in its node, and writes the exit
status into another pipe. So every daemon is a process of its node with its own log, with and without root, on
one machine or several, and only Open MPI's own connections use the network.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from crosswind.app.base import Stage
from crosswind.app.requirements import DebianPackages
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import CHECK_S, PROBE_INTERVAL_S, Process

_REMOTE_SHELL = "remote-shell"
# Time limit for daemons to end after the program.
_END_S = 2.0
_READY_S = 10.0
_READY = "ready\n"
# On the first node: wait for the command line of another node's daemon, and print it.
_AWAIT = 'mkfifo -m 600 "$1.command" "$1.status" && echo ready && exec cat "$1.command"'
# On the first node: report the exit status of a daemon. A pipe that nobody reads would block.
_REPORT = """timeout 10 sh -c 'echo "$2" > "$1.status"' sh "$1" "$2" """
# mpirun calls this with options of ssh, the node, and the words of a command line. The time limit is for a
# node whose process has ended, since a pipe without a reader blocks.
_HAND_OVER = """\
while [ "${1#-}" != "$1" ]; do shift; done
node=$1; shift
COMMAND="$*" timeout 10 sh -c 'printf "%s" "$COMMAND" > "$1.command"' sh "$node" || exit
exit "$(cat "$node.status")"
"""
# Each option with its reason.
_OPTIONS = {
    # The first node starts all daemons; otherwise they would start each other.
    "plm_rsh_agent": f"/bin/sh {_REMOTE_SHELL}",
    "plm_rsh_no_tree_spawn": "1",
    # The daemons stay in the foreground, so that their end is noticed.
    "orte_leave_session_attached": "1",
    # TCP between nodes and shared memory within one, whichever other transports a build has.
    "pml": "ob1",
    "btl": "self,vader,tcp",
    "btl_tcp_if_include": "eth0",
    "oob_tcp_if_include": "eth0",
    # Ranks poll while they wait; with this option they yield their core to ranks with work.
    "mpi_yield_when_idle": "1",
}


class MpiRun:
    """One run of an MPI program.

    Args:
        packages: Open MPI, with `orterun` and `orted`.
        nodes: the first runs `mpirun` and rank 0; ranks fill the nodes in order.
        ranks_per_node: number of ranks on every node.
    """

    def __init__(
        self, stage: Stage, packages: DebianPackages, nodes: Sequence[str], ranks_per_node: int
    ) -> None:
        self._stage = stage
        self._packages = packages
        self._nodes = nodes
        self._ranks_per_node = ranks_per_node
        (stage.folder / _REMOTE_SHELL).write_text(_HAND_OVER)
        self._daemons = [_Daemon(stage, nodes[0], node, self._env()) for node in nodes[1:]]
        for daemon in self._daemons:
            daemon.begin()

    def start(self, program: Path) -> Process:
        """Start the program; the process ends when all ranks have ended."""
        hosts = ",".join(f"{node}:{self._ranks_per_node}" for node in self._nodes)
        command = [
            self._packages.program("orterun").path,
            # Otherwise each node, which looks like a machine, would bind its first rank to core 0.
            *("--bind-to", "none"),
            "--oversubscribe",
            *("-np", len(self._nodes) * self._ranks_per_node),
            *("--host", hosts),
            *(word for option, value in _OPTIONS.items() for word in ("--mca", option, value)),
            program,
        ]
        return self._stage.fabric.start(
            self._nodes[0], "mpirun", command, cwd=self._stage.folder, env=self._env()
        )

    def stop(self) -> None:
        """Wait for the end of every daemon; if one had failed, `mpirun` has reported it and failed.

        Raises: TestbedError: a daemon could not be started.
        """
        # One deadline for all: otherwise many hanging daemons would take minutes.
        fabric = self._stage.fabric
        deadline = time.monotonic() + fabric.time.real_s(_END_S)
        for daemon in self._daemons:
            daemon.end(max(0.0, deadline - time.monotonic()))

    def _env(self) -> dict[str, str]:
        root, folder = self._packages.root, str(self._stage.folder)
        return {
            **self._packages.env,
            # Where Open MPI finds its plug-ins and help, if it is unpacked.
            **({"OPAL_PREFIX": str(root / "usr")} if root != Path("/") else {}),
            # One core for each rank; no settings or sessions in the home folder of the user.
            "OMP_NUM_THREADS": "1",
            "HOME": folder,
            "TMPDIR": folder,
            # Silences a warning about a plug-in that is not installed and not needed.
            "PMIX_MCA_pcompress_base_silence_warning": "1",
        }


class _Daemon:
    """The daemon of a node, which is started when `mpirun` on the first node requests it."""

    def __init__(self, stage: Stage, first: str, node: str, env: Mapping[str, str]) -> None:
        self._stage = stage
        self._first = first
        self._node = node
        self._env = env
        self._ended = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._relay, name=f"orted-{node}", daemon=True)
        self._request = self._start(first, f"remote-shell-{node}", _AWAIT, node)

    def begin(self) -> None:
        """Return when `mpirun` may request it."""
        deadline = self._request.now_s() + _READY_S
        while not self._request.printed().startswith(_READY):
            if self._request.ended is not None or self._request.now_s() > deadline:
                raise TestbedError(f"{self._request}: not ready; {self._request.last_words()}")
            time.sleep(PROBE_INTERVAL_S)
        self._thread.start()

    def end(self, within_s: float) -> None:
        """Stop it, if it has not ended within this time, which is real."""
        self._thread.join(within_s)
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise TestbedError(f"orted on {self._node}: {self._failure}")

    def _relay(self) -> None:
        try:
            if not self._is_over(self._request):
                return
            command = self._request.printed().removeprefix(_READY)
            daemon = self._start(self._node, "orted", command)
            if not self._is_over(daemon):
                daemon.stop(0)
            ended = daemon.ended
            status = 1 if ended is None or ended.code is None else ended.code
            self._start(self._first, f"status-{self._node}", _REPORT, self._node, str(status))
        except Exception as error:  # Raised in the main thread, which is waiting for the load.
            self._failure = error

    def _is_over(self, process: Process) -> bool:
        """Wait for the end of a process; return False where the daemon has to end first."""
        while process.wait(CHECK_S) is None:
            if self._ended.is_set():
                return False
        return True

    def _start(self, node: str, name: str, script: str, *words: str) -> Process:
        command = ["/bin/sh", "-c", script, "sh", *words]
        return self._stage.fabric.start(node, name, command, cwd=self._stage.folder, env=self._env)
