"""Read Spark's event log: the stages of one phase of a driver, with their tasks. Pure: lines in, values out.

A line is a JSON object. Crosswind's driver marks its jobs with the local properties `crosswind.phase` and
`crosswind.part`. A stage belongs to the first job that names it. Times in the log are whole milliseconds of
the driver's clock.

Source: Spark 4, `org.apache.spark.util.JsonProtocol`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from crosswind.testbed.errors import TestbedError

NS_PER_MS = 1_000_000
# An event, or a part of one, as Spark writes it.
Event = dict[str, Any]
_PHASE, _PART = "crosswind.phase", "crosswind.part"


@dataclass(frozen=True)
class SparkTask:
    """A successful attempt of a task; sizes are bytes of shuffled blocks on disk."""

    host: str
    duration_ns: int
    shuffle_written_bytes: int
    shuffle_read_remote_bytes: int
    shuffle_read_local_bytes: int


@dataclass
class SparkStage:
    """A completed stage.

    `part` is the part of the workload that it belongs to, such as a query. `failed_tasks` counts attempts
    that failed and were repeated.
    """

    number: int
    name: str
    part: str | None
    started_ms: int
    duration_ns: int
    tasks: list[SparkTask] = field(default_factory=list)
    failed_tasks: int = 0

    @property
    def median_task_ns(self) -> float:
        """The median duration of its tasks, of which there must be one."""
        return median(task.duration_ns for task in self.tasks)

    @property
    def slowest_task(self) -> SparkTask:
        """The task that took longest; there must be one."""
        return max(self.tasks, key=lambda task: task.duration_ns)


def read_stages(lines: Iterable[str], phase: str) -> list[SparkStage]:
    """Return the completed stages of the jobs of a phase, in the order of their submission.

    A stage whose result a later job uses again is listed once. A stage that was attempted several times lasts
    from its first start to its last end.

    Raises: TestbedError: a line is not an event of Spark, or the log has no end because the driver was
    killed.
    """
    parts: dict[int, str | None] = {}
    stages: dict[int, SparkStage] = {}
    tasks: list[Event] = []
    kind, ended = "nothing", False
    for number, line in enumerate(lines, start=1):
        try:
            event = json.loads(line)
            kind = event["Event"]
            if kind == "SparkListenerJobStart" and event["Properties"].get(_PHASE) == phase:
                for stage in event["Stage IDs"]:
                    parts.setdefault(stage, event["Properties"].get(_PART))
            elif kind == "SparkListenerTaskEnd" and event["Stage ID"] in parts:
                tasks.append(event)
            elif kind == "SparkListenerStageCompleted" and event["Stage Info"]["Stage ID"] in parts:
                _complete(event["Stage Info"], parts, stages)
            # Not always the last event: threads of Spark SQL may report their accumulators after it.
            ended = ended or kind == "SparkListenerApplicationEnd"
        except (ValueError, KeyError, TypeError) as error:
            raise TestbedError(
                f"event log, line {number}: not an event of Spark ({error!r}); "
                "was the driver killed, or is this another version of Spark?"
            ) from error
    if not ended:
        raise TestbedError(f"event log: its last event is {kind}; the driver did not end the application")
    for task in tasks:
        _add(task, stages)
    return sorted(stages.values(), key=lambda stage: (stage.started_ms, stage.number))


def _complete(info: Event, parts: dict[int, str | None], stages: dict[int, SparkStage]) -> None:
    number, ended_ms = info["Stage ID"], info["Completion Time"]
    before = stages.get(number)
    started_ms = before.started_ms if before else info["Submission Time"]
    duration_ns = (ended_ms - started_ms) * NS_PER_MS
    stages[number] = SparkStage(number, info["Stage Name"], parts[number], started_ms, duration_ns)


def _add(event: Event, stages: dict[int, SparkStage]) -> None:
    """Add a task to its stage; ignore tasks of stages that did not complete."""
    stage = stages.get(event["Stage ID"])
    if stage is None:
        return
    if event["Task End Reason"]["Reason"] != "Success":
        stage.failed_tasks += 1
        return
    info, metrics = event["Task Info"], event["Task Metrics"]
    read, written = metrics["Shuffle Read Metrics"], metrics["Shuffle Write Metrics"]
    stage.tasks.append(
        SparkTask(
            host=info["Host"],
            duration_ns=(info["Finish Time"] - info["Launch Time"]) * NS_PER_MS,
            shuffle_written_bytes=written["Shuffle Bytes Written"],
            shuffle_read_remote_bytes=read["Remote Bytes Read"],
            shuffle_read_local_bytes=read["Local Bytes Read"],
        )
    )
