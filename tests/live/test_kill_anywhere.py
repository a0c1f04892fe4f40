"""kill -9 of the command line or the agent at any instant leaves nothing and loses nothing finished."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from conftest import Live

KILLS = 50
SEED = 20261120


def world() -> tuple[str, str]:
    """Return what of the host a leftover would show in: its network devices and its mounts."""
    devices = sorted(line.split(":")[0] for line in Path("/proc/net/dev").read_text().splitlines()[2:])
    mounts = sorted(
        line for line in Path("/proc/self/mounts").read_text().splitlines() if "crosswind" in line
    )
    return "\n".join(devices), "\n".join(mounts)


def test_kill_9_at_random_instants_leaves_nothing_and_loses_nothing(
    live: Live, experiment: Callable[..., str]
) -> None:
    # Half a second of load, many trials: the instants fall into every part of a trial and of the storing.
    file = experiment(repeat=20, duration="150ms")
    random_instants = random.Random(SEED)
    before = world()
    finished: set[str] = set()
    for _ in range(KILLS):
        began = (live.results / "live" / "latest").exists()
        verb = ["resume"] if began else ["run", file]
        running = live.start(*verb)
        try:
            running.wait(random_instants.uniform(0.3, 1.8))
        except subprocess.TimeoutExpired:
            if random_instants.random() < 0.5:
                kill_agent(live)
            running.kill()
        running.communicate()
        live.await_no_process()
        assert world() == before
        if (live.results / "live" / "latest" / "journal.sqlite").exists():
            now = live.stored()
            assert finished <= now
            finished = now
            for trial in finished:
                samples = live.run_folder / "samples"
                assert any(count_rows(path) for path in samples.glob(f"{trial}*.parquet"))
    status, said = live.run("resume")
    assert status == 0, said
    assert len(live.stored()) == 40
    live.run("cleanup")
    assert list((live.folder / "work").iterdir()) == []


def kill_agent(live: Live) -> None:
    agent = live.agent_pid()
    # Between two trials there is none; then this kill is the command line's alone.
    if agent is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(agent, signal.SIGKILL)


def count_rows(path: Path) -> int:
    ((count,),) = duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall()
    return int(count)
