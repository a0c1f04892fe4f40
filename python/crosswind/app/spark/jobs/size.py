"""The size of a workload: a type for each kind of workload, on both sides of `plan.json`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """The number of partitions of input, shuffles and output."""

    partitions: int


@dataclass(frozen=True)
class Records(Size):
    """Records, or lines of text."""

    records: int


@dataclass(frozen=True)
class Pages(Records):
    """Records that are pages; `iterations` rounds rank them."""

    iterations: int


@dataclass(frozen=True)
class Points(Records):
    """Records that are points; at most `iterations` rounds divide them into `clusters`."""

    iterations: int
    clusters: int
    dimensions: int


@dataclass(frozen=True)
class QueryNumbers(Size):
    """Queries by their numbers, in order; `tables` is the folder that `make_tables.py` filled."""

    queries: list[int]
    tables: str


AnySize = Records | Pages | Points | QueryNumbers

SIZES: dict[str, type[AnySize]] = {
    "terasort": Records,
    "sort": Records,
    "wordcount": Records,
    "kmeans": Points,
    "pagerank": Pages,
    "tpch": QueryNumbers,
    "tpcds": QueryNumbers,
}
