"""A metric of a user's application: where it is read, its unit, and which direction is better."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from crosswind.app.command.json_path import read_path
from crosswind.app.command.readiness import Pattern
from crosswind.app.command.unit import UnitWord, unit_of
from crosswind.spec.base import SpecModel
from crosswind.spec.declared import Figure
from crosswind.spec.names import NAME_BYTES_MAX, name_rule
from crosswind.spec.quantities import OperationRate, QuantityError, shown

# The statistic of a single number; others have a quantile.
VALUE = "value"
# Metrics of the network, which every trial has.
_TAKEN = ("ledger.error", "interference.offered", "drops", "retransmissions")


def _free(name: str) -> str:
    if name in _TAKEN:
        raise QuantityError(f"{shown(name)} is the name of a metric of the network; use another name")
    return name


def _with_value(pattern: str) -> str:
    if "value" not in re.compile(pattern).groupindex:
        raise QuantityError(
            f"{shown(pattern)} has no group called value; write (?P<value>...) around the number"
        )
    return pattern


def _below(name: str) -> str:
    if not name or name.startswith("/") or ".." in name.split("/"):
        raise QuantityError(f"{shown(name)} is not in the working folder; name a file in it")
    if "\0" in name or any(len(part.encode()) > NAME_BYTES_MAX for part in name.split("/")):
        raise QuantityError(
            f"{shown(name)} cannot be a file; write at most {NAME_BYTES_MAX} bytes between slashes, no NUL"
        )
    return name


def _path(text: str) -> str:
    read_path(text)
    return text


MetricName = Annotated[
    str,
    AfterValidator(
        name_rule(
            "a metric", r"[A-Za-z0-9][A-Za-z0-9._-]*", "letters, digits, hyphens, dots, underscores", 64
        )
    ),
    AfterValidator(_free),
]
# A file that the load writes into its working folder.
WrittenFile = Annotated[str, AfterValidator(_below)]


class OwnMetric(SpecModel):
    """A number of every trial; one of `json`, `regex`, `elapsed` and `samples` says where it is read."""

    json_path: Annotated[str, AfterValidator(_path)] | None = Field(
        None, alias="json", description="Path in a JSON document, such as results[0].p99."
    )
    regex: Annotated[Pattern, AfterValidator(_with_value)] | None = Field(
        None,
        description="A Python pattern with a group `(?P<value>...)`, and `(?P<unit>...)` if units vary. "
        "The last match counts.",
    )
    elapsed: Literal[True] | None = Field(
        None, description="The time from the end of the warm-up to the end of the load."
    )
    samples: WrittenFile | None = Field(
        None, description="A file with a number on each line: gives P50 to P99.9, mean and maximum."
    )
    column: str | None = Field(
        None,
        min_length=1,
        description="The column to read, if the file is CSV with a header.",
    )
    file: WrittenFile | None = Field(
        None, alias="in", description="A file in the load's folder; its standard output when absent."
    )
    unit: UnitWord | None = Field(None, description="Unit of the number in the output.")
    better: Literal["lower", "higher"] = Field(description="Which direction is better.")

    @model_validator(mode="after")
    def _is_whole(self) -> OwnMetric:
        ways = {"json": self.json_path, "regex": self.regex, "elapsed": self.elapsed, "samples": self.samples}
        given = [way for way, value in ways.items() if value is not None]
        if len(given) != 1:
            raise ValueError(
                f"needs exactly one of {', '.join(ways)}; such as {{json: latency.p99, unit: ms}}"
            )
        if (self.unit is None) != (given == ["elapsed"]):
            raise ValueError(
                "has no unit; add it, such as unit: ms"
                if self.unit is None
                else "is a time; leave `unit` out"
            )
        if self.file is not None and given[0] in ("elapsed", "samples"):
            raise ValueError(f"has `in` and `{given[0]}`; leave `in` out")
        if self.column is not None and self.samples is None:
            raise ValueError("has a column but no file; add samples: FILE, or leave `column` out")
        return self

    @property
    def base_unit(self) -> str:
        """Its unit in metrics.parquet."""
        return "ns" if self.unit is None else unit_of(self.unit).base


class OperationsFile(SpecModel):
    """A file of single operations, as crosswind-load writes them: their latencies become metrics."""

    file: WrittenFile = Field(
        alias="in", description="In the format of `samples` in contracts.md, section 4."
    )
    rate: OperationRate | None = Field(
        None, description="The offered rate of an open loop; a closed loop when absent."
    )
    connections: WrittenFile | None = Field(
        None,
        description="A CSV file that the load writes: `connection,local,remote`, with addresses such as "
        "10.77.0.4:40001. With it, the report shows why operations were slow.",
    )


def figures_of(name: str, metric: OwnMetric) -> tuple[Figure, ...]:
    """Return the figures of a metric in a report."""
    if metric.samples is None:
        return (Figure(name, VALUE, metric.base_unit, name, metric.better),)
    return (
        Figure(name, "p99", metric.base_unit, f"{name} P99", metric.better),
        Figure(name, "p50", metric.base_unit, f"{name} P50", metric.better),
    )
