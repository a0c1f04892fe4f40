"""The driver of one trial: warm-up, input, a wait for the signal to begin, measured run, validation.

    python -m jobs.driver PLAN.json

It prints `ready` when it can begin, waits for the file `begin` of the plan, prints `measured phase` and runs
the workload once. The plan (`plan.py`) says what, how much, where, and which files to write.
Exit status 0 means that the output was validated, 1 an error, and 3 a wrong
output.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from .cluster import connect
from .job import Job, NotValid
from .outcome import JobOutcome
from .plan import Plan
from .size import AnySize
from .workloads import find

NOT_VALID = 3
BEGIN_POLL_S = 0.01
# The measurement window opens at the signal to begin; the run starts when it is certainly open.
LEAD_S = 0.1


def main() -> int:
    plan = Plan.read(Path(sys.argv[1]).read_text())
    spark = connect(plan)
    application = spark.sparkContext.applicationId
    try:
        with phase(spark, "warm-up"):
            for number in range(plan.warm_up_runs):
                warm_up = make_job(spark, plan, f"warm-up-{number}", plan.warm_up)
                warm_up.make_input()
                warm_up.run()
        job = make_job(spark, plan, "measured", plan.measured)
        with phase(spark, "input"):
            job.make_input()
        say("ready")
        await_file(Path(plan.begin))
        say("measured phase")
        time.sleep(LEAD_S)
        with phase(spark, "measured"):
            started_ns = time.monotonic_ns()
            job.run()
            finished_ns = time.monotonic_ns()
        with phase(spark, "validation"):
            checked = job.validate()
    except NotValid as reason:
        print(f"{plan.workload}: not valid: {reason}", file=sys.stderr)
        return NOT_VALID
    finally:
        spark.stop()
    outcome = JobOutcome(started_ns, finished_ns, job.parts, checked, application)
    Path(plan.outcome).write_text(outcome.text())
    return 0


def make_job(spark: SparkSession, plan: Plan, name: str, size: AnySize) -> Job[AnySize]:
    """Return the workload of the plan at a size, with separate folders for input and output."""
    return find(plan.workload)(spark, f"{plan.storage}/{name}", plan.seed, size)


@contextmanager
def phase(spark: SparkSession, name: str) -> Iterator[None]:
    """Mark every job of the block in the event log, whichever thread of Spark submits it."""
    spark.sparkContext.setLocalProperty("crosswind.phase", name)
    yield
    spark.sparkContext.setLocalProperty("crosswind.phase", None)


def await_file(path: Path) -> None:
    """Return when the file exists; if Crosswind never writes it, it ends this process with the node."""
    while not path.exists():
        time.sleep(BEGIN_POLL_S)


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
