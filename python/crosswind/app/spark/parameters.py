"""The parameters of a Spark trial: the workload, its size, and the size of the cluster."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crosswind.app.spark.jobs.size import AnySize, Pages, Points, QueryNumbers, Records
from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import Size

Workload = Literal["terasort", "sort", "wordcount", "kmeans", "pagerank", "tpch", "tpcds"]

# The parameters that set the size of each workload; others have no meaning for it.
SIZED_BY: dict[str, tuple[str, ...]] = {
    "terasort": ("records",),
    "sort": ("records",),
    "wordcount": ("records",),
    "kmeans": ("records", "iterations", "clusters", "dimensions"),
    "pagerank": ("records", "iterations"),
    "tpch": ("scale_factor", "queries"),
    "tpcds": ("scale_factor", "queries"),
}
# The size of a trial of two minutes on two cores.
SMALL_RECORDS = {
    "terasort": 1_000_000,
    "sort": 1_000_000,
    "wordcount": 500_000,
    "kmeans": 100_000,
    "pagerank": 50_000,
}
# TPC-DS: the queries in Uta et al. (NSDI '20); 65 and 68 depend on the network, 82 does not.
SMALL_QUERIES = {"tpch": (3, 9, 18), "tpcds": (65, 68, 82)}
QUERIES = {"tpch": 22, "tpcds": 99}
# Parquet files at a scale factor of 1, nominally 1 GB; measured: 33 MB at 0.1.
TABLE_BYTES_PER_SCALE = 300_000_000
# A record of terasort on disk, and in a shuffle.
RECORD_BYTES, SHUFFLED_BYTES = 100, 124
# Spark refuses executors with less than 450 MiB.
LEAST_MEMORY_BYTES = 512 << 20


class SparkParameters(SpecModel):
    """The workload, its size, and the resources of each worker."""

    workload: Workload = Field(description="A workload like those of HiBench, or queries of TPC-H or TPC-DS.")
    records: Annotated[int, Field(ge=1, le=100_000_000_000)] | None = Field(
        None,
        description="Records of 100 B (terasort), lines of ten words (sort, wordcount), points (kmeans), "
        "pages (pagerank); as many as two cores process in two minutes when absent.",
    )
    iterations: Annotated[int, Field(ge=1, le=1000)] = Field(
        3, description="Rounds of kmeans (at most) or pagerank; 3 when absent."
    )
    clusters: Annotated[int, Field(ge=2, le=10_000)] = Field(
        10, description="Clusters of kmeans; 10 when absent."
    )
    dimensions: Annotated[int, Field(ge=1, le=10_000)] = Field(
        20, description="Dimensions of kmeans; 20 when absent."
    )
    scale_factor: Annotated[float, Field(gt=0, le=100_000)] = Field(
        0.1, description="Size of the tables of tpch and tpcds, about this many GB; 0.1 when absent."
    )
    queries: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] | None = Field(
        None,
        description="Numbers of the queries, in order; [3, 9, 18] (tpch), [65, 68, 82] (tpcds) when absent.",
    )
    storage: Literal["local", "hdfs"] = Field(
        "local",
        description="Where input and output are: local is one disk, as if every node had a replica; hdfs has "
        "a name node on `master` and a data node on every worker. local when absent.",
    )
    replicas: Annotated[int, Field(ge=1, le=512)] = Field(
        2, description="Replicas of each block in HDFS, the first on the node that writes it; 2 when absent."
    )
    partitions: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        None,
        description="Partitions of input, shuffles and output; twice the cores of all workers when absent.",
    )
    cores: Annotated[int, Field(ge=1, le=1024)] = Field(
        1, description="Tasks that each worker runs in parallel; 1 when absent."
    )
    memory_bytes: Size = Field(
        1 << 30, alias="memory", description="Heap of each worker's executor; 1GiB when absent."
    )
    java_options: str = Field(
        "",
        description="Options of Java for every executor, such as `-XX:+UseParallelGC`; `memory` sets the "
        "heap. None when absent.",
    )
    warm_up_runs: Annotated[int, Field(ge=0, le=100)] = Field(
        1,
        description="Complete runs before the measured one, in the same virtual machines and under the empty "
        "condition, with a tenth of the records or with the same queries; 1 when absent.",
    )

    @model_validator(mode="after")
    def _fits_the_workload(self) -> "SparkParameters":
        sizes = {name for names in SIZED_BY.values() for name in names}
        for name in sorted(sizes & self.model_fields_set - {*SIZED_BY[self.workload]}):
            raise ValueError(
                f"`{name}` has no meaning for {self.workload}; leave it out "
                f"(its size: {', '.join(SIZED_BY[self.workload])})"
            )
        if self.storage == "local" and "replicas" in self.model_fields_set:
            raise ValueError(
                "`replicas` has no meaning for local files; add `storage: hdfs`, or leave it out"
            )
        if self.memory_bytes < LEAST_MEMORY_BYTES:
            raise ValueError(
                f"`memory` is {self.memory_bytes} B, too little for an executor; write at least 512MiB"
            )
        if "-Xmx" in self.java_options:
            raise ValueError(
                f'`java_options` is "{self.java_options}", but Spark sets the heap itself; '
                "leave -Xmx out and write `memory`"
            )
        last = QUERIES.get(self.workload)
        for number in self.queries or ():
            if last is not None and number > last:
                raise ValueError(f"{self.workload} has no query {number}; its queries are 1 to {last}")
        return self

    @property
    def query_numbers(self) -> list[int]:
        """The queries of tpch and tpcds, in order; the other workloads have none."""
        return self.queries or list(SMALL_QUERIES.get(self.workload, ()))

    def size(self, partitions: int, tables: str, part: int = 1) -> AnySize:
        """Return the size of the workload.

        Args:
            tables: the folder of the tables of tpch and tpcds.
            part: use one of this number of records, rounded up.
        """
        if self.workload in QUERIES:
            return QueryNumbers(partitions, self.query_numbers, tables)
        records = -(-self._records // part)
        if self.workload == "kmeans":
            return Points(partitions, records, self.iterations, self.clusters, self.dimensions)
        if self.workload == "pagerank":
            return Pages(partitions, records, self.iterations)
        return Records(partitions, records)

    @property
    def trial_bytes(self) -> int:
        """Least bytes that a trial writes to disk; known only for terasort, whose records have one size."""
        if self.workload != "terasort":
            return 0
        copies = self.replicas if self.storage == "hdfs" else 1
        return self._records * (2 * copies * RECORD_BYTES + SHUFFLED_BYTES)

    @property
    def tables_bytes(self) -> int:
        """Least bytes that the tables of tpch and tpcds take on disk."""
        return round(self.scale_factor * TABLE_BYTES_PER_SCALE) if self.workload in QUERIES else 0

    @property
    def _records(self) -> int:
        return self.records or SMALL_RECORDS[self.workload]
