"""Elections in a real replica set while records are loaded and while operations are measured.

Three members on loopback: what moves the primary here is a command, and no network has to break.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from crosswind.app.stores.mongodb import MONGOD
from crosswind.app.ycsb import Ycsb
from crosswind.testbed.binaries import LOAD, find_binary

MEMBERS = 3
RECORDS = 20_000
SOON_S = 90.0


@dataclass(frozen=True)
class ReplicaSet:
    """A set of servers on loopback, `host:port` each."""

    members: list[str]

    def primary(self) -> str:
        """Wait until one of them takes writes, and return it."""
        deadline = time.monotonic() + SOON_S
        while time.monotonic() < deadline:
            for member in self.members:
                if command(member, {"hello": 1}).get("isWritablePrimary"):
                    return member
            time.sleep(0.05)
        raise AssertionError(f"no primary within {SOON_S:g} s")

    def move_primary(self) -> None:
        """Make the primary step down; return when another member takes writes."""
        before = self.primary()
        stepped_down = command(before, {"replSetStepDown": 60, "secondaryCatchUpPeriodSecs": 30})
        assert stepped_down.get("ok") == 1, stepped_down
        assert self.primary() != before
        # It may stand for election again at once, so that the next test can move the role as well.
        command(before, {"replSetFreeze": 0})


def command(server: str, document: dict[str, Any]) -> dict[str, Any]:
    """Run a command; return its answer, or nothing where it failed."""
    asked = ["mongodb-command", "--server", server, "--command", json.dumps(document)]
    done = subprocess.run(
        [find_binary(LOAD), *asked], capture_output=True, text=True, check=False, timeout=60
    )
    answer: dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}
    return answer


@pytest.fixture(scope="module")
def replica_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    if missing := Ycsb.missing("mongodb"):
        pytest.skip("; ".join(f"{item.what}; {item.remedy}" for item in missing))
    folder = tmp_path_factory.mktemp("set")
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(MEMBERS)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    members = [f"127.0.0.1:{port}" for port in ports]
    servers = [start(folder / str(port), port) for port in ports]
    try:
        configuration = {
            "_id": "set",
            "members": [{"_id": number, "host": member} for number, member in enumerate(members)],
        }
        deadline = time.monotonic() + SOON_S
        while "failed" in (answer := command(members[0], {"replSetInitiate": configuration})):
            assert time.monotonic() < deadline, answer
            time.sleep(0.1)
        yield ReplicaSet(members)
    finally:
        for server in servers:
            server.kill()
            server.wait()


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    folder.mkdir()
    options = ["--replSet", "set", "--nounixsocket", "--wiredTigerCacheSizeGB", "0.25", "--oplogSize", "256"]
    journal = ["--wiredTigerEngineConfigString", "log=(file_max=8MB,prealloc=false)"]
    place = ["--dbpath", folder, "--bind_ip", "127.0.0.1", "--port", str(port)]
    with (folder.parent / f"{port}.log").open("wb") as log:
        return subprocess.Popen(
            [str(word) for word in (MONGOD.program().path, *place, *options, *journal)],
            stdout=log,
            stderr=log,
        )


def load(*arguments: object) -> subprocess.Popen[str]:
    command = [str(word) for word in (find_binary(LOAD), *arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def writes(server: str) -> int:
    counters = command(server, {"serverStatus": 1})["opcounters"]
    return int(counters["insert"] + counters["update"])


def await_writes(load: subprocess.Popen[str], server: str, count: int) -> None:
    """Wait until a server has done so many writes since its start, of a load that goes on."""
    deadline = time.monotonic() + SOON_S
    while writes(server) < count:
        assert load.poll() is None, load.communicate()
        assert time.monotonic() < deadline, f"no {count} writes within {SOON_S:g} s"


@pytest.mark.long
def test_an_election_while_records_are_loaded_loses_none_and_fails_nothing(
    replica_set: ReplicaSet, tmp_path: Path
) -> None:
    primary = replica_set.primary()
    before = writes(primary)
    filling = load(
        "ycsb-prepare", "--store", "mongodb", "--server", primary, "--records", RECORDS, "--seed", 1
    )
    await_writes(filling, primary, before + 200)
    replica_set.move_primary()
    said, _ = filling.communicate(timeout=SOON_S)
    assert filling.returncode == 0, said
    assert writes(replica_set.primary()) > 0, "all records were loaded before the election"
    assert all_are_there(replica_set.primary(), tmp_path)


def all_are_there(server: str, folder: Path) -> bool:
    files = ["--samples", folder / "samples.csv", "--summary", folder / "summary.json"]
    reading = load(
        *("ycsb", "--store", "mongodb", "--server", server, "--workload", "c", "--records", RECORDS),
        *("--operations", 3000, "--clients", 2, "--seed", 7, *files),
    )
    said, _ = reading.communicate(timeout=SOON_S)
    assert reading.returncode == 0, said
    errors: int = json.loads((folder / "summary.json").read_text())["errors"]
    return errors == 0


# In workload d a record that is inserted twice, or is lost, is an error. With w=0 one may be lost, hence a.
@pytest.mark.parametrize(
    ("workload", "durability"),
    [pytest.param("d", "w=1", marks=pytest.mark.long), ("d", "majority"), ("a", "w=0")],
)
def test_an_election_under_a_measured_load_is_slow_operations_and_no_failed_ones(
    replica_set: ReplicaSet, tmp_path: Path, workload: str, durability: str
) -> None:
    primary = replica_set.primary()
    target = ["--store", "mongodb", "--server", primary, "--records", 300, "--durability", durability]
    filling = load("ycsb-prepare", *target, "--seed", 1)
    said, _ = filling.communicate(timeout=SOON_S)
    assert filling.returncode == 0, said
    summary = tmp_path / "summary.json"
    files = ["--samples", tmp_path / "samples.csv", "--summary", summary]
    before = writes(primary)
    measured = load(
        *("ycsb", *target, "--workload", workload, "--clients", 2, "--duration", SOON_S, "--seed", 7, *files)
    )
    await_writes(measured, primary, before + 10)
    replica_set.move_primary()
    successor = replica_set.primary()
    await_writes(measured, successor, writes(successor) + 10)
    measured.send_signal(signal.SIGTERM)
    said, _ = measured.communicate(timeout=SOON_S)
    assert measured.returncode == 128 + signal.SIGTERM, said
    result = json.loads(summary.read_text())
    assert (result["errors"], result["ended_by"]) == (0, "signal"), result["first_error"]
