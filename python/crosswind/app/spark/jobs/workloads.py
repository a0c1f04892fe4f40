"""The workloads by their names in experiment files; only the requested one is loaded."""

from importlib import import_module

from .job import Job
from .size import AnySize

_WORKLOADS = {
    "terasort": ("terasort", "TeraSort"),
    "sort": ("sort", "Sort"),
    "wordcount": ("wordcount", "WordCount"),
    "kmeans": ("kmeans", "KMeans"),
    "pagerank": ("pagerank", "PageRank"),
    "tpch": ("queries", "Queries"),
    "tpcds": ("queries", "Queries"),
}


def find(name: str) -> type[Job[AnySize]]:
    """Return the workload of that name."""
    module, job = _WORKLOADS[name]
    found: type[Job[AnySize]] = getattr(import_module(f".{module}", __package__), job)
    return found
