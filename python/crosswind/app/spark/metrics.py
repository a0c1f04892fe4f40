"""From the stages of a run to the metrics of a trial: job and stage times, shuffled bytes, stragglers."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from crosswind.app.spark.event_log import SparkStage
from crosswind.app.spark.jobs.outcome import Checked, JobOutcome
from crosswind.app.spark.jobs.plan import Plan
from crosswind.app.written import Facts, WrittenPart
from crosswind.results.rows import Metric

# A task that takes longer than this number of medians of its stage is a straggler.
# Source: Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri", OSDI 2010,
# 2.
STRAGGLER_MEDIANS = 1.5


class StageFacts(WrittenPart):
    """A stage, with its slowest task; a stage without a task that succeeded has none."""

    name: str
    part: str | None
    time_ns: int
    tasks: int
    failed_tasks: int
    median_task_ns: float | None = None
    slowest_task_ns: int | None = None
    slowest_on: str | None = None


class SparkFacts(Facts):
    """The facts of a trial.

    Attributes:
        configuration: properties of Spark.
        validation: what was checked of the output.
    """

    configuration: dict[str, str]
    started_ns: int
    finished_ns: int
    validation: Checked
    stages: list[StageFacts]


def metrics_of(
    outcome: JobOutcome, stages: Sequence[SparkStage], workers: Sequence[str]
) -> tuple[Metric, ...]:
    """Return the metrics of a run.

    * `job.time` (ns): the whole run, by the driver's clock; `part.NAME.time`: its parts (queries).
    * `stage.NN.time` (ns): the NN-th stage; `stage.NN.slowdown` (1): duration of its slowest task divided by
      the median, on the node of the slowest task.
    * `straggler.time` (ns) of a node: for each stage whose slowest task ran on this node, the time that this
      task took beyond the median; `straggler.tasks` (count): its tasks beyond `STRAGGLER_MEDIANS` medians.
    * `shuffle.written`, `shuffle.read.remote`, `shuffle.read.local` (B) of a node.
    * `tasks.failed` (count): attempts that failed and were repeated.
    """
    job_ns = outcome.finished_ns - outcome.started_ns
    return (
        Metric(None, "job.time", "ns", "total", job_ns),
        *(Metric(None, f"part.{part.name}.time", "ns", "total", part.time_ns) for part in outcome.parts),
        *(metric for index, stage in enumerate(stages) for metric in _of_stage(index, stage)),
        *(metric for worker in workers for metric in _of_worker(worker, stages)),
        Metric(None, "tasks.failed", "count", "total", sum(stage.failed_tasks for stage in stages)),
    )


def facts_of(plan: Plan, outcome: JobOutcome, stages: Sequence[SparkStage]) -> SparkFacts:
    """Return what was run and how: parameters, validation, and each stage with its slowest task."""
    return SparkFacts(
        parameters={"workload": plan.workload, **asdict(plan.measured)},
        configuration=plan.conf,
        started_ns=outcome.started_ns,
        finished_ns=outcome.finished_ns,
        validation=outcome.validation,
        stages=[_facts_of_stage(stage) for stage in stages],
    )


def _of_stage(index: int, stage: SparkStage) -> Iterator[Metric]:
    name = f"stage.{index:02}"
    yield Metric(None, f"{name}.time", "ns", "total", stage.duration_ns)
    if stage.tasks and (usual_ns := stage.median_task_ns) > 0:
        slowest = stage.slowest_task
        yield Metric(slowest.host, f"{name}.slowdown", "1", "max", slowest.duration_ns / usual_ns)


def _of_worker(worker: str, stages: Sequence[SparkStage]) -> Iterator[Metric]:
    tasks = [task for stage in stages for task in stage.tasks if task.host == worker]
    slowest = [stage for stage in stages if stage.tasks and stage.slowest_task.host == worker]
    lost_ns = sum(stage.slowest_task.duration_ns - stage.median_task_ns for stage in slowest)
    late = sum(
        task.host == worker and task.duration_ns > STRAGGLER_MEDIANS * stage.median_task_ns
        for stage in stages
        for task in stage.tasks
    )
    yield Metric(worker, "straggler.time", "ns", "total", lost_ns)
    yield Metric(worker, "straggler.tasks", "count", "total", late)
    for metric, values in (
        ("shuffle.written", (task.shuffle_written_bytes for task in tasks)),
        ("shuffle.read.remote", (task.shuffle_read_remote_bytes for task in tasks)),
        ("shuffle.read.local", (task.shuffle_read_local_bytes for task in tasks)),
    ):
        yield Metric(worker, metric, "B", "total", sum(values))


def _facts_of_stage(stage: SparkStage) -> StageFacts:
    facts = StageFacts(
        name=stage.name,
        part=stage.part,
        time_ns=stage.duration_ns,
        tasks=len(stage.tasks),
        failed_tasks=stage.failed_tasks,
    )
    if not stage.tasks:
        return facts
    slowest = stage.slowest_task
    return facts.model_copy(
        update={
            "median_task_ns": stage.median_task_ns,
            "slowest_task_ns": slowest.duration_ns,
            "slowest_on": slowest.host,
        }
    )
