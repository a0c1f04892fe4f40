"""Real HPCC across nodes; skipped where it or Open MPI is missing."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.app.hpcc.application import PACKAGES
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

pytestmark = pytest.mark.skipif(
    bool(PACKAGES.missing()), reason="openmpi-bin or hpcc is missing; run `crosswind apps install hpcc`"
)

# The smallest problem with which every test measures something; with it a trial takes about 15 s.
EXPERIMENT = """
name: live
topology:
  hosts: 2
  wait: sleep
  uplink: {{rate: 10Gbit/s, delay: 10us, buffer: 512KiB}}
  nodes: {{rank0: h0, rank1: h1}}
conditions: [{conditions}]
application: {{hpcc: {{n: 400{extra}}}}}
trials: {{repeat: {repeat}, rest: 0s, seed: 7}}
"""
# What every rank sends for the bandwidth of rings, whatever n is and however many ranks there are: 3
# measurements of 11 rings, each in two ways, 3 times, with 2 MB to either neighbour (ring_lat_bw_loop in
# bench_lat_bw.c of HPCC 1.5.0), and no input changes it. Wherever ranks are put, a ring that leaves a node
# leaves it with a message each way at least: behind 400 Mbit/s no run takes less than 16 s.
# One rank has the bucket: with two, data wait behind data on both ways, and rings take twice as long.
RING_BYTES = 3 * 11 * 2 * 3 * 2 * 2_000_000
SLOW_BPS = 400e6
SLOW = "slow: {host.egress: [{shape: {rate: 400Mbit/s, burst: 16kB, buffer: 1MB, on: [rank0]}}]}"
RINGS = ("RandomlyOrderedRingBandwidth", "NaturallyOrderedRingBandwidth")


@pytest.fixture(autouse=True)
def packages_of_this_machine(live: Live) -> None:
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())


def write(live: Live, conditions: str = "none", repeat: int = 1, extra: str = "") -> None:
    text = EXPERIMENT.format(conditions=conditions, repeat=repeat, extra=extra)
    (live.folder / "hpcc.yaml").write_text(text)


def values(live: Live, metric: str) -> list[float]:
    """Return a metric of every trial."""
    query = f"SELECT value FROM '{live.run_folder}/metrics.parquet' WHERE metric = '{metric}'"
    return [value for (value,) in duckdb.sql(query).fetchall()]


@pytest.mark.long
def test_a_token_bucket_slows_down_what_communicates(live: Live) -> None:
    # Not PTRANS, which lasts a few milliseconds: one slice of the scheduler is as long.
    communicates = (*RINGS, "AvgPingPongBandwidth")
    write(live)
    live.measured("hpcc.yaml", timeout_s=300)
    free = {metric: values(live, metric)[-1] for metric in communicates}
    write(live, SLOW)
    live.measured("hpcc.yaml", timeout_s=400)
    for metric in communicates:
        (slow,) = values(live, metric)
        assert slow < free[metric]
    for metric in RINGS:
        # A ring is as fast as its slowest rank, which does not send faster than its bucket.
        assert max(values(live, metric)) < SLOW_BPS / 8
    assert len(values(live, "SingleDGEMM")) == 1
    monitors = live.run_folder / "monitors"
    (monitored,) = monitors.glob("*.json")
    assert json.loads(monitored.read_text())["load"]["summary"]["CommWorldProcs"] == 2
    (table,) = monitors.glob("*.counters.parquet")
    query = f"SELECT sum(departed_bytes) FROM '{table}' WHERE element = 'h0/uplink'"
    ((sent_bytes,),) = duckdb.sql(query).fetchall()
    assert sent_bytes > RING_BYTES


def test_a_rank_that_dies_fails_the_trial_at_once(live: Live) -> None:
    write(live)
    run = live.start("run", "hpcc.yaml")
    live.await_step("prepared")
    rank = rank_process(live, rank=1)
    await_output(live)
    os.kill(rank, signal.SIGKILL)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 4, said
    ((reason,),) = duckdb.sql(f"SELECT reason FROM '{live.run_folder}/trials.parquet'").fetchall()
    assert "process rank 1 with PID" in reason, reason
    assert "on node rank1 exited on signal 9" in reason, reason
    assert "---" not in reason


def test_a_grid_that_stays_on_one_node_is_refused_before_anything_starts(live: Live) -> None:
    write(live, extra=", ranks_per_node: 8, grid: {p: 2, q: 2}")
    status, said = live.run("run", "hpcc.yaml")
    assert status == 2
    assert "2 x 2 is not the number of ranks, 16" in said
    assert not live.results.exists()


# That runs need no root is shown with rpc, in `make test`.
@pytest.mark.long
def test_ranks_are_started_in_other_nodes_without_root_too(live: Live, as_nobody: tuple[str, ...]) -> None:
    write(live)
    status, said = live.run("run", "hpcc.yaml", prefix=as_nobody, timeout_s=200)
    if status == 3:
        pytest.skip(said)
    live.check_measured(status, said)
    assert len(values(live, "HPL")) == 1


def await_output(live: Live) -> None:
    """Wait until MPI knows all ranks: of one that dies earlier mpirun tells an exit status alone."""
    deadline = time.monotonic() + 10
    while not any(file.stat().st_size for file in live.folder.rglob("hpccoutf.txt")):
        assert time.monotonic() < deadline, "no hpccoutf.txt"
        time.sleep(0.05)


def rank_process(live: Live, rank: int) -> int:
    """Return the process id of a rank of this test's run."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for entry in Path("/proc").iterdir():
            try:
                if not str((entry / "cwd").readlink()).startswith(str(live.folder)):
                    continue
                environment = (entry / "environ").read_text(errors="replace").split("\0")
                if (entry / "comm").read_text() == "hpcc\n" and f"OMPI_COMM_WORLD_RANK={rank}" in environment:
                    return int(entry.name)
            except OSError:
                continue
        time.sleep(0.05)
    raise AssertionError(f"no rank {rank}")
