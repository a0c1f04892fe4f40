"""Crosswind: a wind tunnel for distributed applications.

    import crosswind

    run = crosswind.load("results/my-experiment/latest")
    print(run.metrics.filter("metric = 'latency' AND statistic = 'p99'"))

    with crosswind.Fabric({"hosts": 2, "uplink": ..., "nodes": {"server": "h0", "client": "h1"}}) as net:
        net.set({"link": [{"delay": {"time": "40ms"}}]})
        net.exec("client", ["ping", "-c1", "server"])

Everything that `__all__` names is public; modules below this one may change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosswind.lazily import lazily

if TYPE_CHECKING:
    from crosswind.analysis.compare import Compared, RunComparison
    from crosswind.analysis.profile import Surface
    from crosswind.analysis.summary import ConditionSummary, Summary
    from crosswind.api.fabric import Fabric, Written
    from crosswind.api.loaded import LoadedRun, Monitors, load
    from crosswind.api.reading import ElementReading, Reading
    from crosswind.api.runs import RunNotWhole, compare, run
    from crosswind.errors import CrosswindError
    from crosswind.stats import Interval, RatioInterval
    from crosswind.stream import Step, Subscription

__version__ = "0.1.0"

__all__ = [
    "Compared",
    "ConditionSummary",
    "CrosswindError",
    "ElementReading",
    "Fabric",
    "Interval",
    "LoadedRun",
    "Monitors",
    "RatioInterval",
    "Reading",
    "RunComparison",
    "RunNotWhole",
    "Step",
    "Subscription",
    "Summary",
    "Surface",
    "Written",
    "__version__",
    "compare",
    "load",
    "run",
]

# Imported when they are first named: DuckDB, NumPy and SciPy take half a second, and `--help` needs none.
__getattr__ = lazily(
    globals(),
    {
        "Compared": "crosswind.analysis.compare",
        "ConditionSummary": "crosswind.analysis.summary",
        "CrosswindError": "crosswind.errors",
        "ElementReading": "crosswind.api.reading",
        "Fabric": "crosswind.api.fabric",
        "Interval": "crosswind.stats",
        "LoadedRun": "crosswind.api.loaded",
        "Monitors": "crosswind.api.loaded",
        "RatioInterval": "crosswind.stats",
        "Reading": "crosswind.api.reading",
        "RunComparison": "crosswind.analysis.compare",
        "RunNotWhole": "crosswind.api.runs",
        "Step": "crosswind.stream",
        "Subscription": "crosswind.stream",
        "Summary": "crosswind.analysis.summary",
        "Surface": "crosswind.analysis.profile",
        "Written": "crosswind.api.fabric",
        "compare": "crosswind.api.runs",
        "load": "crosswind.api.loaded",
        "run": "crosswind.api.runs",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
