"""kill -9 of the command line or the agent at any instant leaves nothing and loses nothing finished."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

if TYPE_CHECKING:
    from conftest import Live

SEED = 20261120


def world() -> tuple[str, str]:
    """Return what of the host a leftover would show in: its network devices and its mounts."""
    devices = sorted(line.split(":")[0] for line in Path("/proc/net/dev").read_text().splitlines()[2:])
    mounts = sorted(
        line for line in Path("/proc/self/mounts").read_text().splitlines() if "crosswind" in line
    )
    return "\n".join(devices), "\n".join(mounts)


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.long)])
def test_kill_9_at_random_instants_leaves_nothing_and_loses_nothing(
    live: Live, experiment: Callable[..., str], kills: int
) -> None:
    # Half a second of load, many trials: the instants fall into every part of a trial and of the storing.
    file = experiment(repeat=12, duration="150ms")
    random_instants = random.Random(SEED)
    before = world()
    finished: set[str] = set()
    first_trial_s = seconds_to_a_stored_trial(live, file)
    for number in range(kills):
        # The first runs are killed while they begin, folder and all; what the last one left is resumed.
        begins = number < max(2, kills // 5)
        running = live.start("run", file) if begins else live.start("resume")
        try:
            running.wait(random_instants.uniform(0.2, 1.2) * first_trial_s)
        except subprocess.TimeoutExpired:
            if random_instants.random() < 0.5:
                kill_agent(live)
            running.kill()
        running.communicate()
        live.await_no_process()
        assert world() == before
        now = live.stored()
        assert begins or finished <= now
        finished = now
        for trial in finished:
            samples = live.run_folder / "samples"
            assert any(count_rows(path) for path in samples.glob(f"{trial}*.parquet"))
    status, said = live.run("resume")
    assert status == 0, said
    assert len(live.stored()) == 24
    live.run("cleanup")
    assert list((live.folder / "work").iterdir()) == []


def seconds_to_a_stored_trial(live: Live, file: str) -> float:
    """Start the run, kill it when its first trial is stored, and return how long this machine took for it."""
    began = time.monotonic()
    running = live.start("run", file)
    live.await_step("stored")
    lasted_s = time.monotonic() - began
    running.kill()
    running.communicate()
    live.await_no_process()
    return lasted_s


def kill_agent(live: Live) -> None:
    agent = live.agent_pid()
    # Between two trials there is none; then this kill is the command line's alone.
    if agent is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(agent, signal.SIGKILL)


def count_rows(path: Path) -> int:
    ((count,),) = duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall()
    return int(count)
