"""YCSB on every store that can be had here, through a real fabric, with and without a token bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.app.ycsb import Ycsb
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

# Scans, of fifty records on average: 20 Mbit/s then limit the store, and not two cores that others use, too.
# FerretDB scans too slowly for that, as do Cassandra and MongoDB just after a start: their records are large.
STORES = {
    "postgresql": "workload: e, records: 500",
    "redis": "workload: e, records: 500, durability: wait=2",
    "valkey": "workload: e, records: 500, durability: wait=2",
    "etcd": "workload: e, records: 500",
    "mongodb": "workload: a, records: 50, field_length: 20kB, durability: majority",
    "ferretdb": "workload: c, records: 200, field_length: 4kB",
    "cassandra": "workload: c, records: 50, field_length: 20kB",
}

EXPERIMENT = """
name: live-store
topology:
  hosts: 4
  uplink: {{rate: 1Gbit/s, delay: 2us, buffer: 64KiB}}
  wait: sleep
  nodes: {{db0: h0, db1: h1, db2: h2, client: h3}}
conditions:
  - none
  - bucket: {{host.egress: [{{shape: {{rate: 20Mbit/s, burst: 30kB, buffer: 64KiB}}}}]}}
application: {{ycsb: {{store: {store}, {parameters}, clients: 4, duration: 1s, warm_up: 300ms}}}}
trials: {{repeat: 1, rest: 0s, seed: 7}}
"""


# One store shows what a bucket does to all of them; the others show that each can be driven.
@pytest.fixture(
    params=[pytest.param(store, marks=[] if store == "redis" else pytest.mark.long) for store in STORES]
)
def store(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if missing := Ycsb.missing(name):
        pytest.skip("; ".join(f"{item.what}; {item.remedy}" for item in missing))
    return name


def test_a_token_bucket_lowers_the_throughput_of_a_replicated_store(live: Live, store: str) -> None:
    text = EXPERIMENT.format(store=store, parameters=STORES[store])
    (live.folder / "store.yaml").write_text(text)
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    live.measured("store.yaml", timeout_s=300)
    folder = (live.results / "live-store" / "latest").resolve()
    found = duckdb.sql(
        f"SELECT condition, value FROM '{folder}/metrics.parquet' "
        f"JOIN '{folder}/trials.parquet' USING (trial) WHERE metric = 'throughput' AND fidelity <> 'void'"
    ).fetchall()
    throughput = dict(found)
    assert throughput["none"] > throughput["bucket"], found
