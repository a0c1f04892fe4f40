"""Every core workload on Redis, etcd and MongoDB: the client alone, against one server on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crosswind.app.stores.etcd import ETCD
from crosswind.app.stores.mongodb import MONGOD
from crosswind.app.stores.redis import Redis
from crosswind.app.ycsb import Ycsb
from crosswind.testbed.binaries import LOAD, find_binary

RECORDS, OPERATIONS = 300, 400
# Of each workload, the operations that it consists of.
WORKLOADS = {
    "a": {"read", "update"},
    "b": {"read", "update"},
    "c": {"read"},
    "d": {"read", "insert"},
    "e": {"scan", "insert"},
    # The update alone has a row of its own: YCSB counts it as an update too.
    "f": {"read", "read-modify-write", "read-modify-write.update"},
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def redis_command(folder: Path, port: int) -> tuple[list[object], dict[str, str]]:
    program = Redis.packages.program("redis-server")
    place = ["--bind", "127.0.0.1", "--port", port, "--dir", folder]
    return [program.path, *place, "--save", ""], program.env


def etcd_command(folder: Path, port: int) -> tuple[list[object], dict[str, str]]:
    program, peer = ETCD.program("etcd"), f"http://127.0.0.1:{free_port()}"
    client = f"http://127.0.0.1:{port}"
    urls = ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
    cluster = ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
    return [program.path, "--data-dir", folder / "data", *urls, *cluster], program.env


def mongodb_command(folder: Path, port: int) -> tuple[list[object], dict[str, str]]:
    place = ["--dbpath", folder, "--bind_ip", "127.0.0.1", "--port", port, "--nounixsocket"]
    return [MONGOD.program().path, *place, "--wiredTigerCacheSizeGB", "0.25"], {}


SERVERS = {"redis": redis_command, "etcd": etcd_command, "mongodb": mongodb_command}


@pytest.fixture(params=SERVERS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """Start a server of its own; return how `crosswind-load` reaches it."""
    name: str = request.param
    if missing := Ycsb.missing(name):
        pytest.skip("; ".join(f"{item.what}; {item.remedy}" for item in missing))
    port = free_port()
    command, env = SERVERS[name](tmp_path, port)
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [str(word) for word in command], env=env, cwd=tmp_path, stdout=log, stderr=log
        )
    try:
        await_port(server, port, tmp_path / "log")
        yield ["--store", name, "--server", f"127.0.0.1:{port}"]
    finally:
        server.kill()
        server.wait()


def await_port(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)


def load(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [find_binary(LOAD), *arguments]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, timeout=120
    )


def test_every_workload_runs_without_an_error(target: list[str], tmp_path: Path) -> None:
    samples, summary = tmp_path / "samples.csv", tmp_path / "summary.json"
    files = ["--samples", samples, "--summary", summary]
    assert load("ycsb-prepare", *target, "--records", RECORDS, "--seed", 1).returncode == 0
    for number, (workload, expected) in enumerate(WORKLOADS.items(), start=1):
        done = load(
            *("ycsb", *target, "--workload", workload, "--records", RECORDS, "--operations", OPERATIONS),
            # Keys that no workload before this one has inserted.
            *("--insert-start", RECORDS + number * OPERATIONS, "--clients", 3, "--seed", 7, *files),
        )
        assert done.returncode == 0, done.stderr
        said = json.loads(summary.read_text())
        assert (said["operations"], said["errors"]) == (OPERATIONS, 0), said["first_error"]
        rows = samples.read_text().splitlines()[1:]
        assert {row.partition(",")[0] for row in rows} == expected


def test_records_that_are_not_there_are_errors(target: list[str], tmp_path: Path) -> None:
    files = ["--samples", tmp_path / "samples.csv", "--summary", tmp_path / "summary.json"]
    assert load("ycsb-prepare", *target, "--records", RECORDS, "--seed", 1).returncode == 0
    done = load(
        *("ycsb", *target, "--workload", "c", "--records", 100 * RECORDS, "--operations", 100),
        *("--clients", 1, "--seed", 7, *files),
    )
    assert done.returncode == 4
    assert "do --records and" in done.stderr


def test_what_a_store_does_not_know_is_refused(target: list[str]) -> None:
    done = load("ycsb-prepare", *target, "--records", 1, "--durability", "never")
    assert done.returncode == 2
    assert "--durability never" in done.stderr
    done = load("ycsb-prepare", *target, "--records", 1, "--user", "somebody")
    assert done.returncode == 2
    assert "--user and --database are for postgresql" in done.stderr
