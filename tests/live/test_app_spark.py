"""Spark across nodes: what the network does to a sort, and what validation refuses."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.app.spark import Spark, programs
from crosswind.app.spark.parameters import SHUFFLED_BYTES
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

JOBS = Path(programs.__file__).parent
CHECKS = Path(__file__).parent / "spark_validation.py"
# Shuffling them through the bucket takes as long as the rest of the sort.
RECORDS = 300_000
# Runs this short end before an optimising compiler has earned what it costs.
QUICK = "java_options: -XX:TieredStopAtLevel=1"
# Of one trial on a machine that does other things as well.
TRIAL_S = 300


def needs(variant: str | None) -> pytest.MarkDecorator:
    lacking = "; ".join(f"{missing.what}; {missing.remedy}" for missing in Spark.missing(variant))
    return pytest.mark.skipif(bool(lacking), reason=lacking)


def run(live: Live, conditions: str, spark: str) -> Path:
    """Run an experiment to its good end; return its results folder."""
    (live.folder / "spark.yaml").write_text(
        f"""
name: live-spark
topology:
  hosts: 4
  uplink: {{rate: 1Gbit/s, delay: 2us, buffer: 512KiB}}
  wait: sleep
  nodes: {{master: h0, worker0: h1, worker1: h2, client: h3}}
conditions: {conditions}
application: {{spark: {{{spark}, {QUICK}}}}}
trials: {{repeat: 1, rest: 0s, seed: 7, limits: {{void: accept}}}}
"""
    )
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    live.measured("spark.yaml", timeout_s=2 * TRIAL_S)
    return (live.results / "live-spark" / "latest").resolve()


def values(folder: Path, metric: str, condition: str) -> list[float]:
    """Return a metric of the whole trial, of every trial under a condition."""
    query = (
        f"SELECT sum(value) FROM '{folder}/metrics.parquet' JOIN '{folder}/trials.parquet' USING (trial) "
        f"WHERE metric = '{metric}' AND condition = '{condition}' GROUP BY trial"
    )
    return [value for (value,) in duckdb.sql(query).fetchall()]


@pytest.mark.long
@needs("hdfs")
def test_a_sort_waits_for_the_network_that_it_shuffles_through(live: Live) -> None:
    shaped = "shape: {rate: 20Mbit/s, burst: 100kB, buffer: 200kB, on: [worker0, worker1]}"
    conditions = f"[none, {{slow: {{host.egress: [{{{shaped}}}]}}}}]"
    folder = run(live, conditions, f"workload: terasort, records: {RECORDS}, storage: hdfs")
    free, slow = values(folder, "job.time", "none"), values(folder, "job.time", "slow")
    # Half of the rows are shuffled across nodes where tasks are dealt out evenly and three eighths where one
    # worker gets three of four: at least 6.9 MB in each direction, 2.7 s at 20 Mbit/s.
    assert min(slow) > max(*free, 2.7e9)
    assert values(folder, "tasks.failed", "none") == [0]
    for shuffled in values(folder, "shuffle.read.remote", "slow"):
        assert 0.35 < shuffled / (RECORDS * SHUFFLED_BYTES) <= 0.5 + 0.01
    log = next(folder.glob("logs/*/worker0/executor-*.err"))
    assert "Starting executor ID" in log.read_text()
    assert next(folder.glob("logs/*/client/events.jsonl.gz")).stat().st_size > 0


@pytest.mark.long
@needs(None)
def test_queries_find_the_rows_that_another_engine_found(live: Live) -> None:
    asked = "workload: tpch, scale_factor: 0.01, queries: [6, 12], warm_up_runs: 0"
    folder = run(live, "[none]", asked)
    parts = [values(folder, f"part.q{number}.time", "none") for number in (6, 12)]
    assert sum(time for (time,) in parts) <= values(folder, "job.time", "none")[0]


@pytest.mark.long
@needs(None)
def test_an_output_that_is_not_the_sorted_input_is_not_valid(tmp_path: Path) -> None:
    env = os.environ | programs.environment() | {"PYTHONPATH": str(JOBS), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [str(programs.python()), str(CHECKS), str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=TRIAL_S)
    assert done.returncode == 0, done.stderr
    # Checksums are sums of the CRC-32 of lines, in hexadecimal digits.
    assert done.stdout.splitlines() == [
        "sorted: valid",
        "two lines swapped: 2 lines of part-00000 are out of order",
        "a line lost: 5 lines of 6 are in the output",
        "a line changed: checksum 356c17ed1 is not 3cbc08f3b",
        "files swapped: part-00000 ends with 'f', above 'a' of part-00001",
    ]
