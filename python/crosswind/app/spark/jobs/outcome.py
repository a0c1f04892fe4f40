"""The outcome of a trial: what the driver measured and checked."""

import json
from dataclasses import asdict, dataclass

# What a workload checked, by its name there.
Checked = dict[str, int | float | str | dict[str, int]]


@dataclass(frozen=True)
class Part:
    """A part of the run that has a time of its own, such as a query."""

    name: str
    time_ns: int


@dataclass(frozen=True)
class JobOutcome:
    """What the driver writes as JSON, and `crosswind.app.spark.driver` reads.

    Args:
        started_ns, finished_ns: of the measured run, CLOCK_MONOTONIC.
        parts: in the order in which they ran.
        validation: what was checked of the output.
        application: Spark's name of the run, which its event log has.
    """

    started_ns: int
    finished_ns: int
    parts: list[Part]
    validation: Checked
    application: str

    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def read(text: str) -> "JobOutcome":
        """Return the outcome that `text` wrote."""
        values = json.loads(text)
        return JobOutcome(**{**values, "parts": [Part(**part) for part in values["parts"]]})
