"""Start an MPI program across nodes: `mpirun` on the first node, a daemon of Open MPI on every other.

`mpirun` starts its daemons through a remote shell, which nodes do not have. Instead, the agent starts a
process in each node, which waits for a command line. The script that `mpirun` uses as its remote shell sends
the command line to this process through a named pipe, and gets the exit status through another. So every
daemon is a process of its node with its own log, with and without root, and only Open MPI's own connections
use the network.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from crosswind.app.base import Stage
from crosswind.app.requirements import DebianPackages
from crosswind.testbed.fabric import Process
from crosswind.testbed.folders import give

_REMOTE_SHELL = "remote-shell"
# Time limit for daemons to end after the program.
_END_S = 2.0
# In a node: read the command line, run it, and write its exit status.
_WAIT = 'sh -c "$(cat "$1.command")"; status=$?; echo $status > "$1.status"; exit $status'
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
        self._daemons = [self._await_command(node) for node in nodes[1:]]

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
        """Wait for the end of every daemon; if one had failed, `mpirun` has reported it and failed."""
        deadline = time.monotonic() + _END_S
        for daemon in self._daemons:
            # One deadline for all: otherwise many hanging daemons would take minutes.
            if daemon.wait(max(0.0, deadline - time.monotonic())) is None:
                daemon.stop(0)

    def _await_command(self, node: str) -> Process:
        for pipe in ("command", "status"):
            path = self._stage.folder / f"{node}.{pipe}"
            os.mkfifo(path, 0o600)
            give(path, *self._stage.fabric.application_account)
        return self._stage.fabric.start(
            node, "orted", ["/bin/sh", "-c", _WAIT, "sh", node], cwd=self._stage.folder, env=self._env()
        )

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
