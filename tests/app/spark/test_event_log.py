"""Stages and tasks from an event log, and what follows from them.

`captured/terasort.jsonl.gz` are whole lines of the log that Spark 4.3.0 wrote of a TeraSort of 200,000
records on two workers, whose senders were shaped to 20 Mbit/s: the first job of the warm-up, and everything
from the measured run on.
"""

import gzip
from pathlib import Path

import pytest

from crosswind.app.spark.event_log import SparkStage, SparkTask, read_stages
from crosswind.app.spark.jobs.outcome import JobOutcome, Part
from crosswind.app.spark.jobs.plan import Plan
from crosswind.app.spark.jobs.size import Records
from crosswind.app.spark.metrics import facts_of, metrics_of
from crosswind.results.rows import Metric
from crosswind.testbed.errors import TestbedError

LOG = Path(__file__).parent / "captured" / "terasort.jsonl.gz"
MS = 1_000_000


@pytest.fixture
def lines() -> list[str]:
    return gzip.decompress(LOG.read_bytes()).decode().splitlines()


def test_the_stages_of_the_measured_run_are_found_and_no_others(lines: list[str]) -> None:
    stages = read_stages(lines, "measured")
    # Keys are sampled, records written for the shuffle, and read from it.
    assert [stage.number for stage in stages] == [5, 6, 7]
    assert [stage.duration_ns for stage in stages] == [1101 * MS, 1893 * MS, 5816 * MS]
    assert [len(stage.tasks) for stage in stages] == [4, 4, 4]
    assert [stage.number for stage in read_stages(lines, "warm-up")] == [0]


def test_shuffled_bytes_are_where_spark_says(lines: list[str]) -> None:
    _, writing, reading = read_stages(lines, "measured")
    # A row of 98 characters is 124 B in a shuffle: size (4), null bits (8), place (8), 98 padded to 104.
    assert sum(task.shuffle_written_bytes for task in writing.tasks) == 200_000 * 124
    read = sum(task.shuffle_read_remote_bytes + task.shuffle_read_local_bytes for task in reading.tasks)
    assert read == 200_000 * 124
    assert {task.host for task in reading.tasks} == {"worker0", "worker1"}


def test_a_log_that_was_cut_is_refused(lines: list[str]) -> None:
    with pytest.raises(TestbedError, match="the driver did not end the application"):
        read_stages(lines[:-1], "measured")
    with pytest.raises(TestbedError, match=f"line {len(lines)}: not an event of Spark"):
        read_stages([*lines[:-1], lines[-1][:20]], "measured")


@pytest.mark.parametrize("line", ["", "null", "[]", "{}", '{"Event": "SparkListenerJobStart"}'])
def test_what_is_no_event_is_named_by_its_line(line: str) -> None:
    with pytest.raises(TestbedError, match="event log, line 1: not an event of Spark"):
        read_stages([line], "measured")


def test_what_is_told_after_the_end_of_the_application_changes_nothing(lines: list[str]) -> None:
    # As Spark 4.3.0 wrote it behind its SparkListenerApplicationEnd.
    kind = "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates"
    late = f'{{"Event":"{kind}","executionId":53,"accumUpdates":[[4043,65],[4042,557]]}}\n'
    assert read_stages([*lines, late], phase="measured") == read_stages(lines, phase="measured")


def test_an_empty_log_has_no_end() -> None:
    with pytest.raises(TestbedError, match="its last event is nothing"):
        read_stages([], "measured")


def task(host: str, ms: int) -> SparkTask:
    return SparkTask(
        host, ms * MS, shuffle_written_bytes=10, shuffle_read_remote_bytes=3, shuffle_read_local_bytes=4
    )


def test_the_node_of_the_slowest_task_is_named_and_charged_for_it() -> None:
    # Median (100 + 110) / 2 = 105 ms; the slowest takes 315 = 3 medians, 210 ms longer, and is the only one
    # beyond one and a half.
    tasks = [task("worker0", 100), task("worker1", 100), task("worker0", 110), task("worker1", 315)]
    stage = SparkStage(4, "text", None, 0, 400 * MS, tasks, failed_tasks=1)
    outcome = JobOutcome(5, 1005, [Part("q3", 900)], {}, "app-1")
    metrics = metrics_of(outcome, [stage], ["worker0", "worker1"])
    assert {
        Metric(None, "job.time", "ns", "total", 1000),
        Metric(None, "part.q3.time", "ns", "total", 900),
        Metric(None, "stage.00.time", "ns", "total", 400 * MS),
        Metric("worker1", "stage.00.slowdown", "1", "max", 3.0),
        Metric("worker0", "straggler.time", "ns", "total", 0),
        Metric("worker1", "straggler.time", "ns", "total", 210 * MS),
        Metric("worker0", "straggler.tasks", "count", "total", 0),
        Metric("worker1", "straggler.tasks", "count", "total", 1),
        Metric("worker0", "shuffle.written", "B", "total", 20),
        Metric("worker1", "shuffle.read.remote", "B", "total", 6),
        Metric("worker1", "shuffle.read.local", "B", "total", 8),
        Metric(None, "tasks.failed", "count", "total", 1),
    } <= set(metrics)


def test_the_facts_of_a_trial_have_every_stage_with_its_slowest_task(lines: list[str]) -> None:
    size = Records(partitions=4, records=200_000)
    plan = Plan(
        workload="terasort",
        seed=1,
        master="spark://master:7077",
        workers=2,
        executors_wait_s=90,
        storage="file:///storage",
        warm_up_runs=1,
        warm_up=size,
        measured=size,
        begin="begin",
        outcome="outcome.json",
        conf={"spark.executor.cores": "1"},
    )
    assert Plan.read(plan.text()) == plan
    outcome = JobOutcome(0, 9, [Part("q3", 5)], {"checksum": "f"}, "app-1")
    assert JobOutcome.read(outcome.text()) == outcome
    facts = facts_of(plan, outcome, read_stages(lines, "measured"))
    assert facts.parameters == {"workload": "terasort", "partitions": 4, "records": 200_000}
    assert [stage.slowest_on for stage in facts.stages] == ["worker0", "worker0", "worker1"]
    stored = facts.as_json()
    assert set(stored) == {
        "parameters", "configuration", "started_ns", "finished_ns", "validation", "stages",
    }  # fmt: skip
