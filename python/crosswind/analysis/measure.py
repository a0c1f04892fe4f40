"""The numbers that a report shows for every trial: the figures of its application, one column each.

They come from resolved.json, so a report needs only the results folder. A quantile of single operations is
shown with the other quantiles: P99 without P50 says little. Older folders do not name figures; they have
operations and get P99, P50 and throughput.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from crosswind.spec.resolved import ResolvedFigure
from crosswind.stats import GroupsNeedTrials, RatioInterval, RefusedComparison

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
QUANTILE_NAMES = {"p50": "P50", "p95": "P95", "p99": "P99", "p999": "P99.9"}


@dataclass(frozen=True)
class Measure:
    """One number of a trial; `metric`, `statistic` and `unit` as in metrics.parquet."""

    metric: str
    statistic: str
    unit: str
    label: str
    better: Literal["lower", "higher"]

    @classmethod
    def of(cls, figure: ResolvedFigure) -> Measure:
        """Return the measure that an application declares."""
        return cls(figure.metric, figure.statistic, figure.unit, figure.label, figure.better)

    @property
    def key(self) -> str:
        """A unique name, such as `latency p99`."""
        return f"{self.metric} {self.statistic}"

    @property
    def of_operations(self) -> bool:
        """Whether it is a quantile over single operations."""
        return self.metric in ("latency", "response") and self.statistic in QUANTILES

    @property
    def title(self) -> str:
        """The label with a capital."""
        return self.label[:1].upper() + self.label[1:]

    def verdict(
        self, ratio: RatioInterval | GroupsNeedTrials | RefusedComparison | None
    ) -> Literal["better", "worse", ""]:
        """Return the verdict of a ratio to the baseline; empty where its interval contains 1."""
        if not isinstance(ratio, RatioInterval) or not ratio.differs:
            return ""
        return "better" if (ratio.low > 1) == (self.better == "higher") else "worse"


# Beside the figures of every application whose operations are stored; docs/reference/contracts.md, section 5.
OVER_100_MS = Measure("slow", "share", "share", "share over 100 ms", "lower")


def measures_of(
    figures: Iterable[ResolvedFigure], stored: Collection[tuple[str, str]], *, open_loop: bool
) -> list[Measure]:
    """Return the columns of a report, in order; the first of `figures` is among them.

    Args:
        figures: of resolved.json.
        stored: (metric, statistic) of all values of all trials.
        open_loop: whether operations have a response time.
    """
    declared = [Measure.of(figure) for figure in figures] or _operations(open_loop)
    measures: list[Measure] = []
    for figure in declared:
        if figure in measures:
            continue
        if not figure.of_operations:
            measures.append(figure)
            continue
        named = {other.statistic: other for other in declared if other.metric == figure.metric}
        measures += [
            named.get(q, Measure(figure.metric, q, figure.unit, name, "lower"))
            for q, name in QUANTILE_NAMES.items()
            if q in named or (figure.metric, q) in stored
        ]
    return measures


def primary_of(figures: Iterable[ResolvedFigure], *, open_loop: bool) -> Measure:
    """Return the figure of the answers: the application's first."""
    return ([Measure.of(figure) for figure in figures] or _operations(open_loop))[0]


def _operations(open_loop: bool) -> list[Measure]:
    metric = "response" if open_loop else "latency"
    return [
        Measure(metric, "p99", "ns", "P99", "lower"),
        Measure(metric, "p50", "ns", "P50", "lower"),
        Measure("throughput", "mean", "1/s", "throughput", "higher"),
    ]
