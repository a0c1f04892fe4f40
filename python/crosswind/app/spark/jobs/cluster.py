"""The connection to the cluster: a session that waits for all executors."""

import time

from pyspark.sql import SparkSession

from .plan import Plan

POLL_S = 0.05


def connect(plan: Plan) -> SparkSession:
    """Return a session on the master of the plan, once every worker has an executor.

    Raises: RuntimeError: an executor is missing after `executors_wait_s`.
    """
    builder = SparkSession.builder.appName(f"crosswind-{plan.workload}").master(plan.master)
    for key, value in plan.conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    deadline = time.monotonic() + plan.executors_wait_s
    while executors(spark) < plan.workers:
        if time.monotonic() > deadline:
            raise RuntimeError(
                f"{executors(spark)} executors of {plan.workers} after {plan.executors_wait_s} s; "
                "do the workers have the memory and the cores of an executor?"
            )
        time.sleep(POLL_S)
    return spark


def executors(spark: SparkSession) -> int:
    """Return the number of registered executors; Spark counts the driver as one more."""
    return len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1
