"""Whole runs in slowed time, of more families of programs: none escapes, and delays are as declared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.app.stores.etcd import ETCD
from crosswind.app.web.nginx import Nginx
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

pytestmark = pytest.mark.long

FACTOR = 5
EXPERIMENT = """
name: live
topology:
  hosts: {hosts}
  wait: sleep
  uplink: {{rate: 1Gbit/s, delay: 5ms, buffer: 512KiB}}
  nodes: {{{nodes}}}
conditions: [none]
application: {{{application}}}
trials: {{repeat: 1, rest: 0s, seed: 7, limits: {{void: accept}}}}
time: {{dilation: {factor}}}
"""
# Of four wires.
ROUND_TRIP_NS = 20e6


def run(live: Live, nodes: str, application: str) -> None:
    """Run an experiment to its good end. No program of it escaped, and no call was refused."""
    text = EXPERIMENT.format(factor=FACTOR, hosts=nodes.count(":"), nodes=nodes, application=application)
    (live.folder / "live.yaml").write_text(text)
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    live.measured("live.yaml", timeout_s=300)
    (monitored,) = (live.run_folder / "monitors").glob("*.json")
    measured = json.loads(monitored.read_text())
    assert measured["time"]["factor"] == FACTOR
    for node in measured["nodes"]:
        for escaped in ("undilated", "killed", "refused", "counters"):
            assert not node["dilation"][escaped], node


def value(live: Live, metric: str, statistic: str) -> float:
    folder = live.run_folder
    query = f"SELECT value FROM '{folder}/metrics.parquet' WHERE metric = ? AND statistic = ?"
    return float(duckdb.execute(query, [metric, statistic]).fetchall()[-1][0])


@pytest.mark.skipif(bool(Nginx.packages.missing()), reason="nginx is not prepared here")
def test_nginx_answers_after_a_round_trip(live: Live) -> None:
    web = "web: {server: nginx, objects: [1kB], connections: 4, rate: 50/s, duration: 2s, warm_up: 500ms}"
    run(live, "server: h0, client: h1", web)
    # Undilated waits would make it a fifth, undilated clocks five times as much.
    assert ROUND_TRIP_NS <= value(live, "response", "p50") < 1.5 * ROUND_TRIP_NS


@pytest.mark.skipif(bool(ETCD.missing()), reason="etcd is not prepared here")
def test_etcd_answers_after_two_round_trips(live: Live) -> None:
    ycsb = "ycsb: {store: etcd, workload: a, records: 100, clients: 2, duration: 3s, warm_up: 500ms}"
    run(live, "db0: h0, db1: h1, db2: h2, client: h3", ycsb)
    # One to the leader, and one from there to a follower.
    assert 2 * ROUND_TRIP_NS <= value(live, "latency", "p50") < 3 * ROUND_TRIP_NS
