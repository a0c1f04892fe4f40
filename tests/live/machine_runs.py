"""What tests of networks on several machines share: an experiment, runs of it, and their results."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import machines as rigs
import pytest
from conftest import SOURCES, START
from machines import Rig

from crosswind.results import Measurement
from crosswind.testbed import TestbedError, find_binary

ZONES = ("left", "right", "far")
BETWEEN_MS = 5
# A round trip crosses the link between the zones and the links of two hosts, each way.
ROUND_TRIP_NS = 2 * (BETWEEN_MS * 1_000_000 + 2 * 100_000)
_DELAY = {zone: {other: f"{BETWEEN_MS}ms" for other in ZONES if other != zone} for zone in ZONES}


def experiment(
    nodes: Mapping[str, str],
    *,
    conditions: str = "",
    warm_up: str = "500ms",
    repeat: int = 1,
    trials: str = "",
) -> str:
    """Return an experiment of requests over three zones, under no condition and a slow one.

    Args:
        nodes: the zone of each.
        conditions: more of them, as lines of YAML.
        trials: more keys of `trials`, each with a comma before it.
    """
    return f"""
name: live
topology:
  zones: {{delay: {_DELAY}}}
  uplink: {{rate: 100Mbit/s, delay: 100us, buffer: 64KiB}}
  nodes: {dict(nodes)}
  wait: sleep
conditions:
  - none
  - slow: {{link: [{{delay: {{time: 5ms}}}}]}}{conditions}
application: {{rpc: {{duration: 1s, warm_up: {warm_up}}}}}
trials: {{repeat: {repeat}, rest: 0s, seed: 7, limits: {{void: accept}}{trials}}}
"""


@contextmanager
def rig_of(count: int, *, drifts_ppm: Mapping[int, int] | None = None) -> Iterator[tuple[Rig, Path]]:
    """Start machines in a folder of their own; skip the test where there can be none."""
    if reason := rigs.missing():
        pytest.skip(reason)
    try:
        find_binary("crosswind-agent")
    except TestbedError as lacking:
        pytest.skip(str(lacking))
    with tempfile.TemporaryDirectory(prefix="crosswind-machines-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with rigs.machines(count, folder, drifts_ppm=drifts_ppm) as rig:
            yield rig, folder


@dataclass
class Place:
    """A folder for runs, and machines for them."""

    rig: Rig
    folder: Path

    @property
    def run_folder(self) -> Path:
        return (self.folder / "results" / "live" / "latest").resolve()

    def start(self, *arguments: str, new_session: bool = False) -> subprocess.Popen[str]:
        """Start a verb; in a new session, all that it starts here can be ended with it."""
        env = self.rig.env | {
            "PYTHONPATH": os.pathsep.join((str(SOURCES), *sys.path)),
            "CROSSWIND_WORK_DIR": str(self.folder / "work"),
        }
        return subprocess.Popen(
            [*START, *arguments],
            cwd=self.folder,
            env=env,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=new_session,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a verb to its end; return its exit status and what it printed."""
        process = self.start(*arguments)
        said, _ = process.communicate(timeout=400)
        return process.returncode, said

    def await_nothing_left(self) -> None:
        """Check that nothing of a run is on any machine, but the agent's file."""
        for machine in self.rig.machines:
            machine.await_no_process(10)
            left = machine.run("sh", "-c", f"ls {self.folder}/work 2> /dev/null || true")
            assert left == ""


def rows(folder: Path, select: str) -> list[tuple[Any, ...]]:
    """Return rows of a run's tables, which are named TRIALS, METRICS and SAMPLES."""
    named = select.replace("TRIALS", f"'{folder}/trials.parquet'")
    named = named.replace("METRICS", f"'{folder}/metrics.parquet'")
    return duckdb.sql(named.replace("SAMPLES", f"'{folder}/samples/*.parquet'")).fetchall()


def measured(folder: Path, trial: str) -> Measurement:
    """Return the stored measurement of a trial."""
    return Measurement.model_validate_json((folder / "monitors" / f"{trial}.json").read_bytes())


def check_within(folder: Path, trial: str, stored: Measurement) -> None:
    """Check that operations and the window are on one clock: both begin and end at about the same instants.

    A busy machine may take a fraction of a second to open the window.
    """
    samples = folder / "samples" / f"{trial}.parquet"
    select = f"SELECT min(started_ns), max(finished_ns) FROM '{samples}' WHERE measured"
    [(first, last)] = duckdb.sql(select).fetchall()
    assert abs(first - stored.window.started_ns) < 500_000_000
    assert last <= stored.window.ended_ns
