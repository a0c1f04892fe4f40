"""The measurement of a user's application: the load, its phases, and its metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pydantic import Field, model_validator

from crosswind.app.command.metric import MetricName, OperationsFile, OwnMetric, figures_of
from crosswind.app.load import latency_figures
from crosswind.spec.base import SpecModel
from crosswind.spec.command_line import CommandLine
from crosswind.spec.declared import Figure
from crosswind.spec.quantities import Duration, PositiveDuration, shown
from crosswind.text.nearest import did_you_mean

NS_PER_S = 1_000_000_000
# Time limit of a load without a duration, and the time that a load may exceed its duration.
LONGEST_S = 600.0
TAIL_S = 60.0
# Names of the metrics that `operations` gives.
_OF_OPERATIONS = ("operations", "errors", "throughput", "latency", "response")


class MeasuredParameters(SpecModel):
    """The load of an application, its phases, and its metrics."""

    metrics: dict[MetricName, OwnMetric] = Field(
        default_factory=dict, description="Metrics read from the load's output, the most important first."
    )
    operations: OperationsFile | None = Field(
        None, description="A file of single operations that the load writes."
    )
    warm_up_ns: Duration = Field(
        0,
        alias="warm_up",
        description="From the start of the load to the measured phase; 0s when absent.",
    )
    warm_up_command: CommandLine | None = Field(
        None, description="A command that runs to its end on the node of the load, before the load starts."
    )
    duration_ns: PositiveDuration | None = Field(
        None,
        alias="duration",
        description="Length of the load after its warm-up. A load that takes 60s longer is stopped; without "
        "a duration, it is stopped after 10min.",
    )

    @model_validator(mode="after")
    def _measures(self) -> MeasuredParameters:
        if not self.metrics and self.operations is None:
            raise ValueError("measures nothing; add metrics, such as {time: {elapsed: true, better: lower}}")
        if self.warm_up_ns and self.warm_up_command is not None:
            raise ValueError("has `warm_up` and `warm_up_command`; leave one of them out")
        return self

    @property
    def longest_s(self) -> float:
        """Time limit of the load with its warm-up, s."""
        measured_s = LONGEST_S if self.duration_ns is None else self.duration_ns / NS_PER_S + TAIL_S
        return self.warm_up_ns / NS_PER_S + measured_s

    def figures(self) -> tuple[Figure, ...]:
        """Return the figures of a report, in the order of the file."""
        own = [figure for name, metric in self.metrics.items() for figure in figures_of(name, metric)]
        operations = () if self.operations is None else latency_figures(self.operations.rate)
        return (*own, *operations)

    def part_findings(
        self, load: str, parts: Collection[str], noun: str
    ) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield an error if the load is not one of `parts`."""
        if load not in parts:
            remedy = did_you_mean(load, parts) or f"there are {', '.join(parts)}"
            yield ("load",), f"{shown(load)} is not a {noun}; {remedy}"

    def metric_findings(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield errors in the names of metrics."""
        for name in self.metrics:
            if self.operations is not None and name.partition(".")[0] in _OF_OPERATIONS:
                yield (
                    ("metrics", name),
                    "is a metric of `operations`; use another name, or leave one of them out",
                )
