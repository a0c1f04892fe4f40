"""A standalone Spark cluster: the master on `master`, a worker with one executor on each of the other nodes.

Each process runs the class that Spark's own scripts start, as the account of the application, with a bounded
heap. All files are below the folder of the trial.
"""

import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from crosswind.app.base import Stage
from crosswind.app.spark import programs
from crosswind.app.spark.await_text import await_text
from crosswind.app.spark.files import beside_logs, make_folder
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

MASTER = "master"
MASTER_PORT = 7077
WORKER_PORT = 7078
# On a busy machine a Java virtual machine takes seconds to start; one that takes 90 s hangs.
READY_S = 90.0
# Nothing in /tmp.
JAVA_OPTIONS = "-XX:-UsePerfData -Djava.io.tmpdir={scratch}"
# Daemons only pass messages: they need neither an optimising compiler nor threads for garbage collection.
DAEMON_OPTIONS = f"{JAVA_OPTIONS} -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
DAEMON_MEMORY = "256m"
# What a worker says of an executor: the folder of its application, and its number.
_EXECUTOR = re.compile(r"launch executor (app-\d+-\d+)/(\d+)")


def workers_of(nodes: Collection[str]) -> list[str]:
    """Return the names of the workers among the nodes of a topology, in order of their number."""
    found = [name for name in nodes if re.fullmatch(r"worker(0|[1-9][0-9]*)", name)]
    return sorted(found, key=lambda name: int(name[len("worker") :]))


class Cluster:
    """Master and workers of one trial.

    Args:
        cores, memory_bytes: of the executor of each worker.
    """

    def __init__(self, stage: Stage, cores: int, memory_bytes: int) -> None:
        self._stage = stage
        self._cores = cores
        self._memory_bytes = memory_bytes
        self.workers = workers_of(stage.fabric.nodes)
        self.processes: list[Process] = []

    @property
    def url(self) -> str:
        """The URL of the master, for drivers."""
        return f"spark://{MASTER}:{MASTER_PORT}"

    def start(self) -> None:
        """Start master and workers; return when the master is ready.

        Workers start up while the driver does; the driver waits for an executor on each of them.
        """
        ports = ("--host", MASTER, "--port", MASTER_PORT, "--webui-port", 0)
        master = self._daemon(MASTER, "master", "org.apache.spark.deploy.master.Master", ports)
        await_text(master, master.complained, "Starting Spark master", READY_S)
        for node in self.workers:
            self._worker(node)

    def keep_logs(self) -> None:
        """Copy the outputs of the executors from the folder of the trial to the logs."""
        for process in self.processes:
            # An executor that did not start has none, and a machine that was lost has no files.
            with suppress(FileNotFoundError, TestbedError):
                for application, executor in sorted(set(_EXECUTOR.findall(process.complained()))):
                    for name in ("out", "err"):
                        output = self._folder(process.node) / application / executor / f"std{name}"
                        kept = beside_logs(process, f"executor-{executor}.{name}")
                        shutil.copyfile(process.wrote(output), kept)

    def scratch(self, node: str) -> Path:
        """Return the folder for temporary files and shuffles of a node."""
        return self._folder(node) / "scratch"

    def environment(self, node: str) -> dict[str, str]:
        """Return the environment of every process of Spark on a node."""
        return {
            **programs.environment(),
            "SPARK_LOCAL_IP": self._stage.fabric.nodes[node].address,
            "SPARK_LOCAL_HOSTNAME": node,
            "SPARK_LOCAL_DIRS": str(self.scratch(node)),
            "HADOOP_USER_NAME": "spark",
        }

    def _worker(self, node: str) -> None:
        arguments = [
            *("--host", node, "--port", WORKER_PORT, "--webui-port", 0),
            *("--cores", self._cores, "--memory", f"{self._memory_bytes >> 20}m"),
            *("--work-dir", self._folder(node), self.url),
        ]
        self._daemon(node, "worker", "org.apache.spark.deploy.worker.Worker", arguments)

    def _daemon(self, node: str, name: str, main: str, arguments: Sequence[object]) -> Process:
        make_folder(self._stage, self._folder(node))
        make_folder(self._stage, self.scratch(node))
        env = self.environment(node) | {
            "SPARK_DAEMON_MEMORY": DAEMON_MEMORY,
            "SPARK_DAEMON_JAVA_OPTS": DAEMON_OPTIONS.format(scratch=self.scratch(node)),
        }
        command = [programs.spark_home() / "bin" / "spark-class", main, *arguments]
        process = self._stage.fabric.start(node, name, command, cwd=self._folder(node), env=env)
        self.processes.append(process)
        return process

    def _folder(self, node: str) -> Path:
        return self._stage.folder / node
