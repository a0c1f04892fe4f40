"""The driver of a trial as a load: its plan, its start, the signal to begin, its outcome."""

import gzip
import shutil
from pathlib import Path

from crosswind.app.base import Load, LoadOutcome, Stage
from crosswind.app.spark import programs
from crosswind.app.spark.await_text import await_text
from crosswind.app.spark.cluster import DAEMON_OPTIONS, JAVA_OPTIONS, Cluster
from crosswind.app.spark.driver_errors import first_cause
from crosswind.app.spark.event_log import read_stages
from crosswind.app.spark.files import beside_logs, copy_jobs, make_folder
from crosswind.app.spark.hdfs import Hdfs
from crosswind.app.spark.jobs.outcome import JobOutcome
from crosswind.app.spark.jobs.plan import Plan
from crosswind.app.spark.metrics import facts_of, metrics_of
from crosswind.app.spark.parameters import SparkParameters
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

CLIENT = "client"
DRIVER_MEMORY = "1g"
# Workers and executors start beside the driver.
EXECUTORS_S = 90.0
# For executors, input and warm-up, with the largest inputs.
READY_S = 7200.0
LONGEST_S = 7200.0
BEGIN_S = 10.0
_MIB = 1 << 20
# The warm-up is for compilers and connections; a tenth of the input is enough.
_WARM_UP_PART = 10


class Driver(Load):
    """The program `jobs/driver.py` on the client; once `start` returns, it is warm and has its input."""

    longest_s = LONGEST_S

    def __init__(
        self, stage: Stage, cluster: Cluster, asked: SparkParameters, hdfs: Hdfs | None, tables: Path | None
    ) -> None:
        self._stage = stage
        self._cluster = cluster
        self._asked = asked
        self._hdfs = hdfs
        self._tables = tables
        self._begin = stage.folder / "begin"
        self._outcome = stage.folder / "outcome.json"
        self._events = stage.folder / "events"

    def start(self) -> None:
        """Start the driver; return when it waits for the signal to begin."""
        stage, folder = self._stage, self._stage.folder / CLIENT
        for made in (folder, self._cluster.scratch(CLIENT), self._events):
            make_folder(stage, made)
        copy_jobs(stage, folder)
        plan = folder / "plan.json"
        plan.write_text(self._plan().text())
        plan.chmod(0o644)
        command = [programs.python(), "-m", "jobs.driver", plan]
        env = self._cluster.environment(CLIENT)
        self.process: Process = stage.fabric.start(CLIENT, "driver", command, cwd=folder, env=env)
        await_text(self.process, self.process.printed, "ready\n", READY_S, self._cluster.processes)

    def begin(self) -> None:
        """Signal the driver to begin."""
        self._begin.touch()
        self.process.update_files()

    def await_measured_phase(self) -> None:
        deadline = self.process.now_s() + BEGIN_S
        while "measured phase\n" not in self.process.printed():
            if self.process.wait(0.005) is not None:
                return
            if self.process.now_s() > deadline:
                raise TestbedError(
                    f"{self.process}: did not begin within {BEGIN_S:g} s of the signal to begin"
                )

    def outcome(self) -> LoadOutcome:
        measured = JobOutcome.read(self.process.wrote(self._outcome).read_text())
        log = self.process.wrote(self._events / measured.application)
        with log.open("rb") as plain, gzip.open(beside_logs(self.process, "events.jsonl.gz"), "wb") as kept:
            shutil.copyfileobj(plain, kept)
        with log.open() as lines:
            stages = read_stages(lines, phase="measured")
        if not stages:
            raise TestbedError(f"{self.process}: its event log has no stage of the measured run")
        metrics = metrics_of(measured, stages, self._cluster.workers)
        return LoadOutcome(None, metrics, facts_of(self._plan(), measured, stages))

    def first_error(self) -> str | None:
        return first_cause(self.process.complained(), self._asked.workload)

    def _plan(self) -> Plan:
        asked, partitions, tables = self._asked, self._partitions, str(self._tables)
        local = f"file://{self._stage.folder}/storage"
        return Plan(
            workload=asked.workload,
            seed=self._stage.seed,
            master=self._cluster.url,
            workers=len(self._cluster.workers),
            executors_wait_s=EXECUTORS_S,
            storage=f"{self._hdfs.uri}/storage" if self._hdfs is not None else local,
            warm_up_runs=asked.warm_up_runs,
            warm_up=asked.size(partitions, tables, _WARM_UP_PART),
            measured=asked.size(partitions, tables),
            begin=str(self._begin),
            outcome=str(self._outcome),
            conf=self._conf(),
        )

    @property
    def _partitions(self) -> int:
        return self._asked.partitions or 2 * self._asked.cores * len(self._cluster.workers)

    def _conf(self) -> dict[str, str]:
        cluster, asked = self._cluster, self._asked
        # The number of threads follows from `cores`, not from the cores of this machine.
        of_executor = [
            JAVA_OPTIONS.format(scratch=self._stage.folder),
            f"-XX:ActiveProcessorCount={asked.cores}",
            asked.java_options,
        ]
        return {
            "spark.cores.max": str(asked.cores * len(cluster.workers)),
            "spark.executor.cores": str(asked.cores),
            "spark.executor.memory": f"{asked.memory_bytes // _MIB}m",
            "spark.executor.extraJavaOptions": " ".join(of_executor).strip(),
            "spark.driver.memory": DRIVER_MEMORY,
            "spark.driver.host": CLIENT,
            "spark.driver.bindAddress": self._stage.fabric.nodes[CLIENT].address,
            # A driver runs most code once; compiling it well would take longer than running it.
            "spark.driver.extraJavaOptions": DAEMON_OPTIONS.format(scratch=cluster.scratch(CLIENT)),
            **{
                f"spark.hadoop.{name}": value
                for name, value in (self._hdfs.settings if self._hdfs else {}).items()
            },
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{self._events}",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
            # The generated data would compress better than real data; all shuffled bytes must cross the
            # network.
            "spark.shuffle.compress": "false",
            # Stages must be the same in every trial, and as in Spark 2.4, which the studies used.
            "spark.sql.adaptive.enabled": "false",
            # The queries are written in standard SQL.
            "spark.sql.ansi.doubleQuotedIdentifiers": "true",
            "spark.sql.shuffle.partitions": str(self._partitions),
            "spark.default.parallelism": str(self._partitions),
        }
