"""Spark as an application: the nodes that it needs, and its cluster and driver in a trial."""

from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar

from crosswind.app.base import Application, Load, Stage
from crosswind.app.demand import Demand
from crosswind.app.requirements import Requirement
from crosswind.app.server import stop_servers
from crosswind.app.spark.cluster import MASTER, Cluster, workers_of
from crosswind.app.spark.driver import CLIENT, Driver
from crosswind.app.spark.hdfs import Hdfs
from crosswind.app.spark.parameters import QUERIES, SparkParameters
from crosswind.app.spark.programs import HDFS, JAVA, PYSPARK
from crosswind.app.spark.tables import Tables
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.testbed.errors import TestbedError

# Of all processes together; one that hangs is then killed.
STOP_S = 2.0
# The tables of a report have no room for more.
QUERIES_SHOWN = 5


class Spark(Application):
    """A standalone cluster: `master`, `worker0`, `worker1` ..., and the driver on `client`."""

    name = "spark"
    summary = "sorting, counting, clustering, ranking and TPC queries on an Apache Spark cluster"
    Parameters = SparkParameters
    # Six virtual machines on two cores, and a warm-up.
    set_up_s = 45.0
    requirements = (PYSPARK, JAVA)
    variants: ClassVar[Mapping[str, tuple[Requirement, ...]]] = {"hdfs": (HDFS,)}
    variants_optional = True
    parameters: SparkParameters

    def needs_one_machine(self) -> str | None:
        if self._tables is not None:
            return f"all workers read the tables of {self.parameters.workload} from one disk"
        if self.parameters.storage == "local":
            return "all workers share one disk; write `storage: hdfs`"
        return None

    def __init__(self, parameters: SparkParameters) -> None:
        super().__init__(parameters)
        self._tables = (
            Tables(parameters.workload, parameters.scale_factor) if parameters.workload in QUERIES else None
        )

    @property
    def variant(self) -> str | None:
        return None if self.parameters.storage == "local" else self.parameters.storage

    def figures(self) -> tuple[Figure, ...]:
        numbers = self.parameters.query_numbers
        queries = numbers if len(numbers) <= QUERIES_SHOWN else []
        return (
            Figure("job.time", "total", "ns", "job time", "lower"),
            *(
                Figure(f"part.q{number}.time", "total", "ns", f"query {number}", "lower")
                for number in queries
            ),
            Figure("straggler.time", "total", "ns", "lost to stragglers", "lower"),
            Figure("shuffle.read.remote", "total", "B", "shuffled across nodes", "lower"),
        )

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in (MASTER, "worker0", "worker1", CLIENT) if role not in nodes]

    @classmethod
    def faults_on(cls, parameters: SparkParameters, nodes: Collection[str]) -> FaultNodes:
        return FaultNodes(measuring=frozenset({CLIENT}))

    @classmethod
    def misfits(
        cls, parameters: SparkParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        workers = len(workers_of(nodes))
        if parameters.storage == "hdfs" and parameters.replicas > workers:
            yield ("replicas",), f"{parameters.replicas} is more than the {workers} workers that store blocks"

    def demand(self, nodes: Collection[str]) -> Demand:
        asked = self.parameters
        return Demand(
            memory_bytes=len(workers_of(nodes)) * asked.memory_bytes,
            work_bytes=asked.trial_bytes,
            kept_bytes=asked.tables_bytes,
            remedy="write less `memory` or a smaller size",
        )

    def is_prepared(self, nodes: Collection[str]) -> bool:
        return self._tables is None or self._tables.folder.is_dir()

    def prepare(self, stage: Stage) -> None:
        if self._tables is not None:
            self._tables.make(stage)

    def start(self, stage: Stage) -> None:
        asked = self.parameters
        self._cluster = Cluster(stage, asked.cores, asked.memory_bytes)
        self._hdfs = Hdfs(stage, self._cluster.workers, asked.replicas) if asked.storage == "hdfs" else None
        tables = self._tables.folder if self._tables is not None else None
        self._driver = Driver(stage, self._cluster, asked, self._hdfs, tables)
        try:
            if self._hdfs is not None:
                self._hdfs.start()
            self._cluster.start()
            self._driver.start()
        except TestbedError:
            self._cluster.keep_logs()
            raise

    def load(self, stage: Stage) -> Load:
        self._driver.begin()
        return self._driver

    def stop(self, stage: Stage) -> None:
        stores = self._hdfs.processes if self._hdfs is not None else []
        try:
            stop_servers(stage, [*self._cluster.processes, *stores], STOP_S)
        finally:
            self._cluster.keep_logs()
