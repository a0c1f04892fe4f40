"""Limits of nodes in real runs, and ends of processes that do not listen."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from crosswind.spec import FabricSpec
from crosswind.spec.network import star_links
from crosswind.testbed import Agent, RunningFabric

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 1
  uplink: {{rate: 1Gbit/s, delay: 2us, buffer: 64KiB}}
  wait: sleep
  nodes: {{work: {node}}}
conditions: [none]
application:
  command:
    roles: {{work: {{command: "{work}"}}}}
    load: work
    metrics: {{took: {{elapsed: true, better: lower}}}}
trials: {{repeat: 1, rest: 0s, seed: 7, limits: {{void: accept}}}}
"""
# `tail` keeps what it is to print in memory until its input ends, a second after it has come.
REMEMBER = "(head -c 100M /dev/zero; sleep 1) | tail -c 90M | wc -c"
SPIN = "timeout 1.5 sh -c 'while :; do :; done' || true"


def run(live: Live, node: str, work: str) -> tuple[int, str]:
    (live.folder / "live.yaml").write_text(EXPERIMENT.format(node=node, work=work))
    return live.run("run", "live.yaml")


def metrics(live: Live) -> dict[tuple[str, str], float]:
    rows = duckdb.sql(f"SELECT node, metric, value FROM '{live.run_folder}/metrics.parquet'").fetchall()
    return {(node, metric): value for node, metric, value in rows}


def measured_node(live: Live, name: str) -> dict[str, Any]:
    live.check_first_attempts()
    (file,) = live.run_folder.glob("monitors/*.json")
    nodes = json.loads(file.read_text())["nodes"]
    (node,) = [node for node in nodes if node["node"] == name]
    assert isinstance(node, dict)
    return node


def test_every_trial_says_what_its_nodes_used(live: Live) -> None:
    status, said = run(live, "h0", REMEMBER)
    assert status == 0, said
    found = metrics(live)
    assert 80e6 < found["work", "memory.peak"] < 300e6
    assert 0 < found["work", "cpu.time"] < 4e9
    assert measured_node(live, "work")["memory_limit"] is None


def test_a_processor_limit_is_kept_and_recorded(live: Live) -> None:
    status, said = run(live, "{host: h0, cpus: 0.1}", SPIN)
    if "no writable processor group" in said:
        pytest.skip("control groups are not writable here")
    assert status == 0, said
    limit = measured_node(live, "work")["cpus_limit"]
    assert limit["ppm"] == 100_000
    assert limit["kept_by"].startswith("cgroup-")
    assert limit["throttled_ns"] > 0
    # A tenth of 1.5 s, one period of 100 ms more at either end, and two ticks of 10 ms.
    assert metrics(live)["work", "cpu.time"] <= 0.1 * 1.7e9 + 20e6


def test_a_node_without_room_fails_its_trial_and_the_reason_names_the_limit(live: Live) -> None:
    status, said = run(live, "{host: h0, memory: 32MiB}", REMEMBER)
    assert status == 4, said
    assert "node work: " in said
    assert "32.0 MiB" in said
    assert "raise `memory`" in said or "no writable memory group" in said


DEAF = "trap '' TERM; while :; do sleep 1; done"


def test_many_processes_that_do_not_listen_stop_within_five_seconds(live: Live, tmp_path: Path) -> None:
    spec = FabricSpec.model_validate(
        {
            "seed": 1,
            "hosts": ["h0"],
            "switches": ["switch"],
            "links": [link.resolved(1.0).as_json() for link in star_links(["h0"])],
            "routes": "shortest",
            "nodes": [{"name": "a", "host": "h0"}],
            "mtu_bytes": 1500,
            "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000},
            "merge_window_ns": 0,
            "condition": {"name": "none"},
        }
    )
    with Agent() as agent, RunningFabric(agent, spec, tmp_path / "logs") as fabric:
        deaf = [
            fabric.start("a", f"deaf{number}", ["sh", "-c", f"{DEAF} #{live.folder}"], cwd=live.folder)
            for number in range(50)
        ]
        listening = fabric.start("a", "listening", ["sleep", "600"], cwd=live.folder)
        time.sleep(0.2)  # For the shells to set their traps; a process without one ends all the sooner.
        began = time.monotonic()
        fabric.stop([*deaf, listening])
        assert time.monotonic() - began < 5
        assert listening.ended is not None
        assert listening.ended.signal == 15
        assert {process.ended.signal for process in deaf if process.ended} == {9}
