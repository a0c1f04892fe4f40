"""Our load generator and go-ycsb on one Redis: both should report the same rate and the same median.

Both run workload c (reads only) in a closed loop with the same number of connections, in random order. Over a
network with delay, both should measure that delay. Without delay the figures include the cost of the clients,
because a closed loop is limited by clients and server.
"""

import json
import random
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.figures import Figure, Skipped, figure, skipped
from crosswind.app.base import Stage
from crosswind.app.requirements import GoProgram, OwnProgram
from crosswind.app.server import run_to_end
from crosswind.app.stores.redis import PORT, Redis
from crosswind.app.stores.store import PRIMARY, address_of
from crosswind.testbed import Agent, RunningFabric
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.folders import WorkFolder
from crosswind.testbed.plain import plain_fabric

GO_YCSB = GoProgram(
    "go-ycsb",
    module="github.com/pingcap/go-ycsb",
    version="v1.0.1",
    package="github.com/pingcap/go-ycsb/cmd/go-ycsb",
)
CLIENT = "client"
RECORDS = 1000
CONNECTIONS = 4
RUN_S = 120.0
WANTED = "0.95 to 1.05"


@dataclass(frozen=True)
class SetUp:
    """A network, and the number of operations for a run of some seconds."""

    name: str
    delay_ns: int
    operations: int


SET_UPS = (
    # Each way crosses two uplinks: 5 ms there and back.
    SetUp("5 ms away", 1_250_000, 4_000),
    SetUp("without delay", 0, 60_000),
)


@dataclass(frozen=True)
class Reported:
    """The figures of a load generator: operations per second, and the median latency in µs."""

    rate_per_s: float
    median_us: float


def crosscheck(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the ratios of rates and medians, ours to those of go-ycsb."""
    missing = [text for need in (OwnProgram(LOAD), *Redis.requirements, GO_YCSB) for text in need.missing()]
    if missing:
        yield skipped("crosscheck", f"{'; '.join(missing)}; build go-ycsb: {' && '.join(GO_YCSB.commands())}")
        return
    for set_up in SET_UPS:
        ours, theirs = _measured(set_up, rounds)
        for name, mine, other in (
            ("rate", [each.rate_per_s for each in ours], [each.rate_per_s for each in theirs]),
            ("median latency", [each.median_us for each in ours], [each.median_us for each in theirs]),
        ):
            yield figure(
                f"Redis {set_up.name}, {name}: crosswind-load to go-ycsb",
                "ratio",
                [a / b for a, b in zip(mine, other, strict=True)],
                WANTED,
                crosswind_load=round(float(np.median(mine)), 1),
                go_ycsb=round(float(np.median(other)), 1),
            )


def parse_go_ycsb(printed: str) -> Reported:
    """Return the rate and the median of the reads of a finished run.

    Raises: ValueError: it did not finish, or reads failed; go-ycsb exits with 0 even if all reads fail.
    """
    _, finished, summary = printed.partition("Run finished, takes ")
    reads = re.search(r"^READ +- .*?Count: (\d+), OPS: ([\d.]+), .*?50th\(us\): (\d+)", summary, re.MULTILINE)
    if not finished or reads is None:
        raise ValueError(f"go-ycsb did not finish: {printed[-300:]!r}")
    if re.search(r"^\w+_ERROR", summary, re.MULTILINE):
        raise ValueError(f"go-ycsb had errors: {summary!r}")
    return Reported(float(reads[2]), float(reads[3]))


def _measured(set_up: SetUp, rounds: int) -> tuple[list[Reported], list[Reported]]:
    """Run both in turns; return the figures of each, round by round."""
    store, spec = Redis(RECORDS), plain_fabric((PRIMARY, CLIENT), delay_ns=set_up.delay_ns)
    shuffle = random.Random(1)
    ours: list[Reported] = []
    theirs: list[Reported] = []
    with WorkFolder() as work, tempfile.TemporaryDirectory() as logs:
        if not store.is_prepared((PRIMARY, CLIENT)):
            with Agent() as agent, RunningFabric(agent, spec, Path(logs)) as fabric:
                store.prepare(_stage(fabric, work), CLIENT)
        with Agent() as agent, RunningFabric(agent, spec, Path(logs)) as fabric:
            stage = _stage(fabric, work)
            store.start(stage)
            # Its keys have a prefix, so both sets of records fit into one store.
            _go_ycsb(stage, "load", set_up.operations, 0)
            for number in range(rounds):
                turns = [("ours", ours), ("theirs", theirs)]
                shuffle.shuffle(turns)
                for who, reported in turns:
                    if who == "ours":
                        reported.append(_crosswind_load(store, stage, set_up.operations, number))
                    else:
                        printed = _go_ycsb(stage, "run", set_up.operations, number)
                        reported.append(parse_go_ycsb(printed))
            store.stop(stage)
    return ours, theirs


def _stage(fabric: RunningFabric, work: WorkFolder) -> Stage:
    return Stage(fabric, work.fresh("crosscheck", *fabric.application_account), seed=1)


def _crosswind_load(store: Redis, stage: Stage, operations: int, number: int) -> Reported:
    samples, summary = stage.folder / f"samples-{number}.csv", stage.folder / f"summary-{number}.json"
    command = [
        *(find_binary(LOAD), "ycsb", *store.target(stage)),
        *("--workload", "c", "--records", RECORDS, "--operations", operations),
        *("--clients", CONNECTIONS, "--seed", number, "--samples", samples, "--summary", summary),
    ]
    run_to_end(stage, CLIENT, f"load-{number}", command, timeout_s=RUN_S)
    started_ns, finished_ns = np.loadtxt(samples, delimiter=",", skiprows=1, usecols=(3, 4), unpack=True)
    said = json.loads(summary.read_text())
    took_s = (said["finished_ns"] - said["started_ns"]) / 1e9
    return Reported(said["operations"] / took_s, float(np.median(finished_ns - started_ns)) / 1000)


def _go_ycsb(stage: Stage, verb: str, operations: int, number: int) -> str:
    properties = {
        "redis.addr": f"{address_of(stage, PRIMARY)}:{PORT}",
        "redis.datatype": "hash",
        "workload": "core",
        "recordcount": RECORDS,
        "operationcount": operations,
        "threadcount": CONNECTIONS,
        "fieldcount": 10,
        "fieldlength": 100,
        "readallfields": "true",
        "readproportion": 1,
        "updateproportion": 0,
        "requestdistribution": "zipfian",
    }
    command = [
        *(GO_YCSB.program().path, verb, "redis"),
        *(word for name, value in properties.items() for word in ("-p", f"{name}={value}")),
    ]
    return run_to_end(stage, CLIENT, f"go-ycsb-{verb}-{number}", command, timeout_s=RUN_S)
