"""The workloads by the name that an experiment has for them; only the one that is asked for is loaded."""

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
