"""A program that takes its time from the time-stamp counter is named in its trial and in the report."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

if TYPE_CHECKING:
    from conftest import Live

SOURCE = Path(__file__).parents[2] / "crates" / "dilation" / "tests" / "programs" / "counter.c"
# Of the counter: a second or less on every machine. Each of the first thousand readings costs a signal, and
# other tests have the CPUs too.
TICKS = 2_000_000_000
EXPERIMENT = f"""
name: live
topology:
  hosts: 2
  wait: sleep
  uplink: {{rate: 100Mbit/s, delay: 1ms, buffer: 64KiB}}
  nodes: {{server: h0, client: h1}}
conditions: [none]
application:
  command:
    roles:
      server: {{command: [sh, -c, "echo ready; exec sleep 1000"], ready: {{regex: ready}}}}
      client: {{command: [./counter, "{TICKS}"], files: [counter]}}
    load: client
    metrics:
      took: {{elapsed: true, better: lower}}
trials: {{repeat: 1, rest: 0s, seed: 7, limits: {{void: accept}}}}
time: {{dilation: 5}}
"""


@pytest.fixture
def reads_counter(live: Live) -> str:
    """Return the file of an experiment whose load reads the counter."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("SKIPPED: no C compiler (cc) on this machine")
    subprocess.run([compiler, "-O1", "-o", live.folder / "counter", SOURCE], check=True)
    (live.folder / "live.yaml").write_text(EXPERIMENT)
    return "live.yaml"


def test_a_program_that_reads_the_counter_degrades_its_trial_and_the_report_names_it(
    live: Live, reads_counter: str
) -> None:
    live.measured(reads_counter)
    (monitored,) = (live.run_folder / "monitors").glob("*.json")
    server, client = json.loads(monitored.read_text())["nodes"]
    assert server["dilation"]["counters"] == []
    (found,) = client["dilation"]["counters"]
    assert found["program"].endswith("/counter")
    assert found["file"] == found["program"]
    assert found["reads"] == 1000
    trials = f"SELECT fidelity, fidelity_reason FROM '{live.run_folder}/trials.parquet'"
    ((fidelity, reason),) = duckdb.execute(trials).fetchall()
    assert fidelity in ("degraded", "void"), reason
    named = f"{found['program']} read the time-stamp counter"
    if fidelity == "degraded":
        assert named in reason
        assert named in (live.run_folder / "report.html").read_text()


@pytest.mark.long
def test_the_certificate_of_two_dilations_names_it(live: Live, reads_counter: str) -> None:
    status, said = live.run("certify", "--dilation", reads_counter, timeout_s=600)
    # On a busy machine trials may be void, and then nothing is decided about the figure.
    assert status in (0, 4, 6), said
    clocks = json.loads((live.run_folder / "certificate.json").read_text())["claims"][0]
    assert clocks["family"] == "clocks"
    assert "/counter" in json.dumps(clocks)
    assert "read the time-stamp counter" in said
