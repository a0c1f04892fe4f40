"""YCSB against a real replicated PostgreSQL; skipped where there is none."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.app.stores.postgresql import POSTGRESQL
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

pytestmark = pytest.mark.skipif(
    bool(POSTGRESQL.missing()), reason="PostgreSQL is missing; run `crosswind apps install ycsb`"
)

EXPERIMENT = """
name: live-ycsb
topology:
  hosts: 4
  uplink: {{rate: 1Gbit/s, delay: 2us, buffer: 64KiB}}
  wait: sleep
  nodes: {{db0: h0, db1: h1, db2: h2, client: h3}}
conditions: [{condition}]
application: {{ycsb: {{workload: a, records: 500, duration: {duration}, warm_up: 200ms, clients: 2}}}}
trials: {{repeat: {repeat}, rest: 0s, seed: 7}}
"""


@pytest.fixture(autouse=True)
def cache_of_this_machine(live: Live) -> None:
    # Data are prepared for the first test that needs them, once.
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())


def write(live: Live, condition: str = "none", repeat: int = 2, duration: str = "500ms") -> None:
    text = EXPERIMENT.format(condition=condition, repeat=repeat, duration=duration)
    (live.folder / "ycsb.yaml").write_text(text)


def postmasters(live: Live) -> dict[str, int]:
    """Return node -> process id of the servers that run in this test's work folder."""
    found = {}
    for pid_file in (live.folder / "work").glob("run-*/trial/db*/postmaster.pid"):
        folder = str(pid_file.parent)
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and f"-D\0{folder}" in _command_line(entry):
                found[pid_file.parent.name] = int(entry.name)
    return found


def _command_line(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_text()
    except OSError:
        return ""


def await_load(live: Live) -> None:
    """Wait until the first trial's load has begun; before it, data may have to be prepared."""
    deadline = time.monotonic() + 60
    logs = live.results / "live-ycsb" / "latest" / "logs"
    while not list(logs.glob("b*/client/load.out")):
        assert time.monotonic() < deadline, "no load within 60 s"
        time.sleep(0.05)


def test_every_trial_starts_from_the_prepared_replicated_state(live: Live) -> None:
    live.env["CROSSWIND_CACHE_DIR"] = str(live.folder / "cache")
    write(live)
    said = live.measured("ycsb.yaml")
    assert "preparing the data" in said
    folder = (live.results / "live-ycsb" / "latest").resolve()
    found = duckdb.sql(
        f"SELECT DISTINCT metric FROM '{folder}/metrics.parquet' WHERE statistic = 'p99'"
    ).fetchall()
    assert {("latency",), ("latency.read",), ("latency.update",)} <= set(found)
    (cached,) = (live.folder / "cache" / "ycsb-postgresql").iterdir()
    assert json.loads((cached / "manifest.json").read_text())["nodes"] == ["db0", "db1", "db2"]
    for log in folder.glob("logs/b*/db0/postgres.err"):
        text = log.read_text()
        # Both standbys were part of the quorum before the load, and the server was never recovered from a
        # crash.
        assert text.count("candidate for quorum synchronous standby") == 2
        assert "not properly shut down" not in text
    assert "preparing" not in live.run("run", "ycsb.yaml")[1]


def test_a_database_that_dies_under_the_load_is_the_reason_of_the_failed_trial(live: Live) -> None:
    write(live, repeat=1, duration="5s")
    run = live.start("run", "ycsb.yaml")
    await_load(live)
    time.sleep(0.5)
    os.kill(postmasters(live)["db0"], signal.SIGKILL)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 4, said
    assert "postgres on db0: ended during the load (killed by signal 9)" in said


def test_a_hung_standby_delays_the_end_of_a_trial_by_seconds(live: Live) -> None:
    write(live, repeat=1, duration="2s")
    run = live.start("run", "ycsb.yaml")
    await_load(live)
    os.kill(postmasters(live)["db1"], signal.SIGSTOP)
    hung = time.monotonic()
    said, _ = run.communicate(timeout=90)
    # The other standby confirms the writes, so the load ends well.
    assert run.returncode == 0, said
    # 2.2 s of load, at most 5 s until everything has ended, and the same again for storing on a busy machine.
    assert time.monotonic() - hung < 12


@pytest.mark.skipif(bool(IPERF3.missing()), reason="iperf3 is missing; run `crosswind apps install iperf3`")
def test_real_interference_draws_rates_and_records_them(live: Live) -> None:
    law = "{normal: {mean: 5%, sd: 2%}}"
    noisy = f"noisy: {{interference: {{between: [h0-h1], rate: {law}, hold: 1s, by: iperf3}}}}"
    (live.folder / "rpc.yaml").write_text(
        f"""
name: live-noise
topology:
  hosts: 2
  uplink: {{rate: 1Gbit/s, delay: 2us, buffer: 64KiB}}
  wait: sleep
  nodes: {{server: h0, client: h1}}
conditions: [{{{noisy}}}]
application: {{rpc: {{duration: 2500ms, warm_up: 200ms}}}}
trials: {{repeat: 1, rest: 0s, seed: 7}}
"""
    )
    live.measured("rpc.yaml")
    folder = (live.results / "live-noise" / "latest").resolve()
    table = next(folder.glob("monitors/*.interference.parquet"))
    draws = duckdb.sql(f"SELECT source, rate_bps FROM '{table}' ORDER BY at_ns").fetchall()
    assert {source for source, _ in draws} == {"h0->h1", "h1->h0"}
    rates = [rate for _, rate in draws if rate]
    assert len(rates) >= 4
    assert any(rate == 0 for _, rate in draws), "the gap between two clients is recorded"
