"""A run takes as long as its plan says."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import duckdb
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Live

# For each CPU: above it a run has taken 8 times as long besides its load, and the plan says about 4 times.
BUSY_LOAD = 2


def test_a_run_takes_at_least_its_load_and_at_most_what_the_plan_says(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(duration="2s")
    status, said = live.run("plan", file, "--json")
    assert status == 0, said
    expected = json.loads(said)["expected"]
    # Two trials of two conditions, with a warm-up of 100 ms.
    assert (expected["load_s"], expected["rests_s"]) == (8.4, 0.0)
    load, began_s = os.getloadavg()[0], time.monotonic()
    live.measured(file)
    took_s = time.monotonic() - began_s
    # The plan says that repeats of void trials are not counted.
    query = f"SELECT coalesce(sum(duration_s), 0) FROM '{live.run_folder}/trials.parquet' WHERE attempt > 1"
    ((repeats_s,),) = duckdb.sql(query).fetchall()
    took_s -= repeats_s
    assert took_s >= expected["load_s"]
    load, cpus = max(load, os.getloadavg()[0]), os.cpu_count() or 1
    if took_s > expected["most_s"] and load > BUSY_LOAD * cpus:
        pytest.skip(f"SKIPPED: {took_s:.0f} s under a load average of {load:.0f} on {cpus} CPUs")
    assert took_s <= expected["most_s"]
