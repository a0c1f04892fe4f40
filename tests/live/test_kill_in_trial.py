"""A server or a client that is killed in the middle of a trial fails that trial by its name, and no other."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.app import find
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {{rate: 1Gbit/s, delay: 10us, buffer: 256KiB}}
  wait: sleep
  nodes: {{{server}: h0, client: h1}}
conditions: [none]
application: {{{application}}}
trials: {{repeat: 2, rest: 0s, seed: 7, limits: {{void: accept}}}}
"""
YCSB = "ycsb: {{store: {}, workload: a, records: 200, duration: 2s, warm_up: 0s}}"
WEB = "web: {{server: nginx, client: {}, objects: [1kB], duration: 2s, warm_up: 0s}}"
KILLED = "ended during the load (killed by signal 9)"
# What runs, the variant that has to be here, the program that is killed, and how the reason begins.
KILLS = {
    # Debian's redis-server is a link to redis-check-rdb.
    "redis": (YCSB.format("redis"), "redis", "redis-check-rdb", f"redis-server on db0: {KILLED}"),
    "etcd": (YCSB.format("etcd"), "etcd", "etcd", f"etcd on db0: {KILLED}"),
    "ferretdb": (YCSB.format("ferretdb"), "ferretdb", "ferretdb", f"ferretdb on db0: {KILLED}"),
    "nginx": (WEB.format("crosswind"), "nginx", "nginx", f"nginx on server: {KILLED}"),
    "vegeta": (WEB.format("vegeta"), "nginx-vegeta", "vegeta", "vegeta on client: exit status 137"),
    "own-client": (WEB.format("crosswind"), "nginx", "crosswind-load", "load on client: killed by signal 9"),
}


@pytest.mark.parametrize(
    "killed",
    [pytest.param(name, marks=[pytest.mark.long] if name in ("etcd", "ferretdb") else []) for name in KILLS],
)
def test_what_is_killed_fails_its_trial_by_name_and_the_next_trial_is_well(live: Live, killed: str) -> None:
    application, variant, program, reason = KILLS[killed]
    name = application.partition(":")[0]
    for missing in find(name).missing(variant):
        pytest.skip(f"{missing.what}; {missing.remedy}")
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    server = "db0" if name == "ycsb" else "server"
    (live.folder / "live.yaml").write_text(EXPERIMENT.format(server=server, application=application))
    run = live.start("run", "live.yaml")
    live.await_step("prepared")
    time.sleep(0.5)  # The load has begun by then.
    found = [pid for pid, path in live.processes().items() if Path(path).name == program]
    # The first is the master of those that work for it.
    os.kill(min(found), signal.SIGKILL)
    said, _ = run.communicate(timeout=90)
    assert run.returncode == 4, said
    trials = duckdb.sql(f"SELECT status, reason FROM '{live.run_folder}/trials.parquet' ORDER BY block")
    # The second may have been repeated, where the machine stalled.
    first, *others = trials.fetchall()
    assert first[0] == "failed"
    assert first[1].startswith(reason), first[1]
    assert others
    assert set(others) == {("done", None)}
    live.await_no_process()
