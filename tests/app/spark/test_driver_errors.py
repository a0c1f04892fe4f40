"""The reason of a failed trial, from what the driver wrote.

`captured/missing-table.err` is what pyspark 4.3.0 wrote when a query named a table that is not there; folders
are shortened.
"""

from pathlib import Path

from crosswind.app.spark.driver_errors import first_cause

CAPTURED = Path(__file__).parent / "captured" / "missing-table.err"
# The last lines of a job whose executors ended, in Spark's own form.
FROM_JAVA = """\
26/11/21 21:20:02 ERROR TaskSchedulerImpl: Lost executor 0 on worker0: Command exited with code 137
Traceback (most recent call last):
py4j.protocol.Py4JJavaError: An error occurred while calling o88.text.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 3.0 failed 4 times
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2856)
Caused by: java.lang.OutOfMemoryError: Java heap space
"""


def test_the_exception_is_found_behind_the_log() -> None:
    said = first_cause(CAPTURED.read_text(), "tpch")
    assert said is not None
    assert said.startswith("pyspark.errors.exceptions.captured.AnalysisException: [TABLE_OR_VIEW_NOT_FOUND]")
    assert "`lineitem`" in said


def test_what_java_raised_keeps_its_own_words() -> None:
    assert first_cause(FROM_JAVA, "sort") == (
        "py4j.protocol.Py4JJavaError: An error occurred while calling o88.text. "
        "org.apache.spark.SparkException: Job aborted due to stage failure: "
        "Task 1 in stage 3.0 failed 4 times"
    )


def test_a_validation_that_failed_says_so_first() -> None:
    verdict = "terasort: not valid: 99 lines of 100 are in the output"
    assert first_cause(f"{verdict}\nRuntimeError: later\n", "terasort") == verdict


def test_a_log_without_an_error_has_no_cause() -> None:
    assert first_cause("WARN NativeCodeLoader: Unable to load native-hadoop library\n", "sort") is None
