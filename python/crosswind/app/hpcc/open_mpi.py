"""Start an MPI program across nodes: `mpirun` on the first node, a daemon of Open MPI on every other.

`mpirun` starts its daemons through a remote shell. There is none between nodes, and none is needed: a process
that the agent has started waits in each node for the command line, and what `mpirun` takes for its remote
shell hands it over through a named pipe, waits, and returns its exit status through another. So every daemon
is a process of its node with a log of its own, with root and without, and no connection crosses the network
but those of Open MPI itself.
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
# How long daemons may take to end after the program.
_END_S = 2.0
# In a node: the command line comes, is carried out, and its exit status goes back.
_WAIT = 'sh -c "$(cat "$1.command")"; status=$?; echo $status > "$1.status"; exit $status'
# What mpirun calls: with options of ssh, the node, and the words of a command line. A node whose process is
# gone would leave it waiting for a reader, so the handing over has a time limit.
_HAND_OVER = """\
while [ "${1#-}" != "$1" ]; do shift; done
node=$1; shift
COMMAND="$*" timeout 10 sh -c 'printf "%s" "$COMMAND" > "$1.command"' sh "$node" || exit
exit "$(cat "$node.status")"
"""
# Why each of them:
_OPTIONS = {
    # Every daemon is started from the first node; otherwise they would start each other.
    "plm_rsh_agent": f"/bin/sh {_REMOTE_SHELL}",
    "plm_rsh_no_tree_spawn": "1",
    # The daemons stay in the foreground, where their end is seen.
    "orte_leave_session_attached": "1",
    # TCP between nodes, shared memory inside one, whatever other transports a build has.
    "pml": "ob1",
    "btl": "self,vader,tcp",
    "btl_tcp_if_include": "eth0",
    "oob_tcp_if_include": "eth0",
    # Ranks poll without end; those that wait give their core to those that have work.
    "mpi_yield_when_idle": "1",
}


class MpiRun:
    """One run of an MPI program.

    Args:
        packages: Open MPI, with `orterun` and `orted`.
        nodes: the first has `mpirun` and rank 0; ranks fill them one after the other.
        ranks_per_node: of every node.
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
        """Start the program; the process ends when all of its ranks have."""
        hosts = ",".join(f"{node}:{self._ranks_per_node}" for node in self._nodes)
        command = [
            self._packages.program("orterun").path,
            # Every node takes itself for a machine of its own, and would bind its first rank to core 0.
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
        """See that every daemon ends; of one that had failed, `mpirun` has said so and failed too."""
        deadline = time.monotonic() + _END_S
        for daemon in self._daemons:
            # All of them have the same time; with one after the other many hung ones would take minutes.
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
            # Where a build looks for its own plug-ins and help, which is not where it lies when unpacked.
            **({"OPAL_PREFIX": str(root / "usr")} if root != Path("/") else {}),
            # One core for each rank, and no settings or sessions in the user's folder.
            "OMP_NUM_THREADS": "1",
            "HOME": folder,
            "TMPDIR": folder,
            # A plug-in that is not installed, and that nothing here would use.
            "PMIX_MCA_pcompress_base_silence_warning": "1",
        }
