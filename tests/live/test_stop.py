"""Servers end within five seconds, all at once, also when everything on their nodes hangs."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crosswind.app import Application, Stage, find, names
from crosswind.app.command import Command, CommandParameters
from crosswind.app.server import stop_servers
from crosswind.app.spark import Spark, SparkParameters
from crosswind.app.ycsb import Ycsb, YcsbParameters
from crosswind.runner.trial import await_end
from crosswind.spec import load_experiment
from crosswind.testbed import Agent, RunningFabric, TestbedError
from crosswind.testbed.plain import plain_fabric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Live

    from crosswind.spec.resolved import FabricSpec

DATABASE = ("db0", "db1", "client")
CLUSTER = ("master", "worker0", "worker1", "client")
# To every process of the node but its first, and this one.
EVERY = "kill -{} -1"
STOPPED_S = 5
UP = "echo up; while :; do sleep 1; done"
TOOK = {"took": {"elapsed": True, "better": "lower"}}
# Their ports do not meet, so one network has them all. Spark and ycsb's stores have tests of their own.
SIDE_BY_SIDE: dict[str, dict[str, Any]] = {
    "command": {
        "roles": {"server": {"command": UP, "ready": {"regex": "up"}}, "client": {"command": "true"}},
        "load": "client",
        "metrics": TOOK,
    },
    "compose": {
        "file": "compose.yaml",
        "load": "client",
        "ready": {"server": {"regex": "up"}},
        "metrics": TOOK,
    },
    "dns": {"names": 10, "duration": "1s"},
    "hpcc": {},
    "iperf3": {"duration": "1s"},
    "memcached": {"keys": 10, "duration": "1s"},
    "nuttcp": {"streams": 3, "duration": "1s"},
    "rpc": {"duration": "1s"},
    "sockperf": {"duration": "1s"},
    "traffic": {"duration": "1s"},
    "training": {"width": 1},
    "web": {"duration": "1s"},
}
SERVICES = {"server": {"command": ["sh", "-c", UP]}, "client": {"command": ["true"]}}
NODES = ("server", "client", "worker0", "worker1", "rank0", "rank1")


def network(nodes: Sequence[str]) -> FabricSpec:
    """Return a network whose emulator leaves the CPUs to what starts and ends in it."""
    return plain_fabric(nodes).model_copy(update={"wait": "sleep"})


# Three that end in ways of their own; the others are variations of these.
SHORT = ("postgresql", "redis", "etcd")


@pytest.fixture(
    params=[pytest.param(name, marks=[] if name in SHORT else pytest.mark.long) for name in Ycsb.variants]
)
def store(request: pytest.FixtureRequest) -> Application:
    if missing := Ycsb.missing(request.param):
        pytest.skip("; ".join(item.what for item in missing))
    asked = {"store": request.param, "workload": "a", "records": 100, "duration": "1s"}
    return Ycsb(YcsbParameters.model_validate(asked))


def staged(fabric: RunningFabric, folder: Path) -> Stage:
    folder.mkdir()
    os.chown(folder, *fabric.application_account)
    return Stage(fabric, folder, seed=1)


def test_a_store_that_hangs_ends_within_five_seconds(live: Live, store: Application) -> None:
    spec = network(DATABASE)
    if not store.is_prepared(DATABASE):
        # As in a run, where preparing has logs of its own: processes of one name share one.
        with Agent() as agent, RunningFabric(agent, spec, live.folder / "prepare-logs") as fabric:
            store.prepare(staged(fabric, live.folder / "prepared"))
    with Agent() as agent, RunningFabric(agent, spec, live.folder / "logs") as fabric:
        stage = staged(fabric, live.folder / "work")
        store.start(stage)
        for node in DATABASE[:2]:
            fabric.start(node, "hang", ["sh", "-c", EVERY.format("STOP")], cwd=stage.folder).wait(5)
        began = time.monotonic()
        store.stop(stage)
        assert time.monotonic() - began < STOPPED_S


def test_whatever_the_application_what_hangs_ends_within_five_seconds(live: Live) -> None:
    # history runs the servers of ycsb.
    assert {*SIDE_BY_SIDE, "history", "spark", "ycsb"} == {*names()}
    found = {name: side_by_side(live.folder, name) for name in SIDE_BY_SIDE}
    lacking = [
        item.what for each in found.values() for item in (*each.missing(each.variant), *each.own_missing())
    ]
    ready = [each for each in found.values() if not each.missing(each.variant) and not each.own_missing()]
    with Agent() as agent, RunningFabric(agent, network(NODES), live.folder / "logs") as fabric:
        stages = [staged(fabric, live.folder / application.name) for application in ready]
        with ThreadPoolExecutor(len(ready)) as threads:
            list(threads.map(lambda each, stage: each.start(stage), ready, stages))
            for node in NODES:
                fabric.start(node, "hang", ["sh", "-c", EVERY.format("STOP")], cwd=live.folder).wait(5)
            lasted_s = dict(zip(ready, threads.map(stopped_s, ready, stages), strict=True))
    assert {each.name: lasted for each, lasted in lasted_s.items() if lasted >= STOPPED_S} == {}
    if lacking:
        pytest.skip(f"all others ended in time; not here: {'; '.join(lacking)}")


def side_by_side(folder: Path, name: str) -> Application:
    asked = SIDE_BY_SIDE[name]
    topology = {"hosts": 1, "nodes": dict.fromkeys(NODES, "h0"), "uplink": {"rate": "1Gbit/s", "delay": "0s"}}
    (folder / "compose.yaml").write_text(json.dumps({"services": SERVICES}))
    experiment = {"name": "hung", "topology": topology, "conditions": ["none"], "application": {name: asked}}
    file = folder / f"hung-{name}.yaml"
    file.write_text(json.dumps({**experiment, "trials": {"repeat": 1}}))
    return find(name)(load_experiment(file).parameters)


def stopped_s(application: Application, stage: Stage) -> float:
    """Stop an application; return how long that took, s."""
    began = time.monotonic()
    application.stop(stage)
    return time.monotonic() - began


def test_a_load_and_its_server_that_hang_end_together_within_five_seconds(live: Live) -> None:
    command = SIDE_BY_SIDE["command"]
    asked = command | {"roles": command["roles"] | {"client": {"command": UP}}}
    application = Command(CommandParameters.model_validate(asked))
    with Agent() as agent, RunningFabric(agent, network(NODES[:2]), live.folder / "logs") as fabric:
        stage = staged(fabric, live.folder / "work")
        application.start(stage)
        load = application.load(stage)
        for node in NODES[:2]:
            fabric.start(node, "hang", ["sh", "-c", EVERY.format("STOP")], cwd=stage.folder).wait(5)
        load.longest_s, began = 0, time.monotonic()
        with pytest.raises(TestbedError, match="client on client: still running"):
            await_end(load, began, application, stage)
    assert time.monotonic() - began < STOPPED_S


@pytest.mark.long
@pytest.mark.skipif(
    bool(Spark.missing("hdfs")), reason="; ".join(item.what for item in Spark.missing("hdfs"))
)
def test_a_cluster_that_lost_a_worker_and_hangs_ends_within_five_seconds_and_names_it(live: Live) -> None:
    asked = {"workload": "wordcount", "records": 1000, "storage": "hdfs", "warm_up_runs": 0}
    spark = Spark(SparkParameters.model_validate(asked))
    with Agent() as agent, RunningFabric(agent, network(CLUSTER), live.folder / "logs") as fabric:
        stage = staged(fabric, live.folder / "work")
        spark.start(stage)
        for node in CLUSTER:
            all_of_it = EVERY.format("KILL" if node == "worker1" else "STOP")
            fabric.start(node, "damage", ["sh", "-c", all_of_it], cwd=stage.folder).wait(5)
        time.sleep(0.5)  # Until the ends know.
        began = time.monotonic()
        with pytest.raises(TestbedError) as failure:
            spark.stop(stage)
        assert time.monotonic() - began < STOPPED_S
    for process in ("worker", "datanode"):
        assert f"{process} on worker1: ended during the load (killed by signal 9)" in str(failure.value)


def test_a_server_that_ended_under_the_load_is_named_and_the_others_end(live: Live) -> None:
    with Agent() as agent, RunningFabric(agent, network(DATABASE), live.folder / "logs") as fabric:
        stage = staged(fabric, live.folder / "work")
        servers = [fabric.start(node, node, ["sleep", "60"], cwd=stage.folder) for node in DATABASE]
        servers[1].signal(signal.SIGKILL)
        servers[1].wait(5)
        with pytest.raises(TestbedError, match="db1 on db1: ended during the load"):
            stop_servers(stage, servers)
        assert all(server.ended for server in servers)
