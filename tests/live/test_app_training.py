"""Real training across nodes; skipped where PyTorch is missing."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.app.training import TrainingParameters
from crosswind.app.training.application import TORCH
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

pytestmark = pytest.mark.skipif(
    bool(TORCH.missing()), reason="python3-torch is missing; run `crosswind apps install training`"
)

WIDTH, RATE_BPS, BURST_BYTES = 8, 20_000_000, 100_000
EXPERIMENT = """
name: live
topology:
  hosts: 2
  wait: sleep
  uplink: {{rate: 1Gbit/s, delay: 10us, buffer: 512KiB}}
  nodes: {{worker0: h0, worker1: h1}}
conditions:
  - none
  - slow: {{host.egress: [{{shape: {{rate: 20Mbit/s, burst: 100kB, buffer: 1MB}}}}]}}
application: {{training: {{width: {width}, steps: {steps}, warm_up_steps: 5}}}}
trials: {{repeat: {repeat}, rest: 0s, seed: 7}}
"""


@pytest.fixture(autouse=True)
def packages_of_this_machine(live: Live) -> None:
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())


def write(live: Live, steps: int, repeat: int) -> None:
    (live.folder / "training.yaml").write_text(EXPERIMENT.format(width=WIDTH, steps=steps, repeat=repeat))


@pytest.mark.long
def test_a_token_bucket_makes_steps_as_long_as_the_gradients_take_to_pass_it(live: Live) -> None:
    write(live, steps=10, repeat=1)
    live.measured("training.yaml", timeout_s=400)
    metrics = f"'{live.run_folder}/metrics.parquet' JOIN '{live.run_folder}/trials.parquet' USING (trial)"
    found = duckdb.sql(
        f"SELECT condition, value / 1e9 FROM {metrics} "
        "WHERE metric = 'latency' AND statistic = 'p50' AND fidelity <> 'void'"
    ).fetchall()
    steps_s = dict(found)
    assert steps_s.keys() == {"none", "slow"}
    # Each worker sends one gradient in a step; at most a full bucket of it passes at once.
    gradient_bytes = TrainingParameters(width=WIDTH).least_sent_bytes(2)
    assert steps_s["slow"] > (gradient_bytes - BURST_BYTES) * 8 / RATE_BPS
    assert steps_s["slow"] > steps_s["none"]
    query = f"SELECT count(*) FROM {metrics} WHERE metric = 'loss' AND fidelity <> 'void'"
    ((losses,),) = duckdb.sql(query).fetchall()
    assert losses == 2 * 2


@pytest.mark.long
def test_a_worker_that_dies_fails_the_trial_and_is_named(live: Live) -> None:
    write(live, steps=1_000_000, repeat=1)
    run = live.start("run", "training.yaml")
    live.await_step("prepared")
    os.kill(worker(live, rank=1), signal.SIGKILL)
    live.await_step("prepared", 2)
    os.kill(worker(live, rank=1), signal.SIGKILL)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 4, said
    reasons = duckdb.sql(f"SELECT reason FROM '{live.run_folder}/trials.parquet'").fetchall()
    assert all("worker on worker1: killed by signal 9" in reason for (reason,) in reasons), reasons


def worker(live: Live, rank: int) -> int:
    """Return the process id of a worker of this test's run."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_text().split("\0") if entry.name.isdecimal() else []
            except OSError:
                continue
            if any(word.startswith(str(live.folder)) for word in words) and f"--rank\0{rank}" in "\0".join(
                words
            ):
                return int(entry.name)
        time.sleep(0.05)
    raise AssertionError(f"no worker of rank {rank}")
