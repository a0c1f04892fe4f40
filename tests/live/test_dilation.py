"""Real programs with a clock that is slower: what they measure is what an undilated one would measure."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.app.stores.redis import Redis
from crosswind.spec import fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.testbed import Agent
from crosswind.testbed.replies import Reply, Started

if TYPE_CHECKING:
    from conftest import Live

    from crosswind.app.requirements.debian import DebianPackages

FACTOR = 5
EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s, delay: 0us, buffer: 1MiB}
  nodes: {server: h0, client: h1}
conditions: [none]
application: {rpc: {duration: 500ms, warm_up: 100ms}}
trials: {repeat: 2, rest: 0s, seed: 7}
"""
# Backslashes are for the shell.
SLEEP = """do \\$\\$ declare began timestamptz := clock_timestamp(); begin perform pg_sleep(0.3);
raise notice 'slept %', extract(epoch from clock_timestamp() - began); end \\$\\$"""
POSTGRES = Path("/usr/lib/postgresql/15/bin")


class Count(Reply):
    """A call or a program, and how often."""

    call: str = ""
    program: str = ""
    count: int


class Reads(Reply):
    """A program that read the time-stamp counter, and the file whose code did."""

    program: str
    file: str
    reads: int


class Dilated(Reply):
    """What the agent reports of a node."""

    processes: int
    execs: int
    undilated: list[Count]
    killed: list[Count]
    refused: list[Count]
    counters: list[Reads]


class NodeRead(Reply):
    """One node of a measurement."""

    node: str
    dilation: Dilated


class Measured(Reply):
    """The nodes of a measurement."""

    nodes: list[NodeRead]


class Slow:
    """Two nodes, `client` and `server`, with clocks that are slower."""

    def __init__(self, agent: Agent, folder: Path) -> None:
        self.agent, self.folder = agent, folder
        fabric = fabric_of(resolve(parse_experiment(EXPERIMENT.encode(), "live.yaml")), "none")
        request = {
            "fabric": fabric.model_dump(by_alias=True, exclude_none=True),
            "dilation": {"factor": FACTOR},
        }
        agent.request("up", Reply, request)

    def start(self, node: str, script: str, env: dict[str, str] | None = None) -> tuple[int, Path]:
        """Start a script in a node; return its number, and where its output goes."""
        output = self.folder / f"out{time.monotonic_ns()}"
        request = {
            "node": node, "name": "test", "argv": ["bash", "-c", script], "env": env or {},
            "cwd": str(self.folder), "stdout": str(output), "stderr": str(output),
        }  # fmt: skip
        return self.agent.request("start", Started, request).process, output

    def run(self, node: str, script: str, env: dict[str, str] | None = None) -> str:
        process, output = self.start(node, script, env)
        ended = self.agent.wait_exit(process, timeout_s=90)
        assert ended is not None, output.read_text()
        assert ended.code == 0, output.read_text()
        return output.read_text()

    def report(self, node: str) -> Dilated:
        """Return the report of a node, in which nothing may have escaped."""
        (found,) = [part for part in self.agent.request("read", Measured).nodes if part.node == node]
        assert (found.dilation.undilated, found.dilation.killed) == ([], [])
        return found.dilation


@pytest.fixture
def slow(live: Live) -> Iterator[Slow]:
    folder = live.folder / "open"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    with Agent() as agent:
        yield Slow(agent, folder)


def prepared(packages: DebianPackages) -> DebianPackages:
    if packages.missing():
        pytest.skip(f"{packages.name} is not prepared here")
    return packages


def test_ping_reads_its_own_clock_and_the_refusal_is_named(slow: Slow) -> None:
    if not shutil.which("ping"):
        pytest.skip("ping is not installed")
    began_s = time.monotonic()
    said = slow.run("client", "ping -c 4 -i 0.2 server")
    # Three gaps of 0.2 s.
    assert time.monotonic() - began_s >= 0.6 * FACTOR
    (took_ms,) = re.findall(r"4 received, 0% packet loss, time (\d+)ms", said)
    assert 600 <= int(took_ms) < 900, said
    assert "SO_TIMESTAMP" in [refused.call for refused in slow.report("client").refused]


def test_iperf3_measures_the_rate_that_it_was_given(slow: Slow) -> None:
    iperf3 = prepared(IPERF3)
    program = iperf3.program("iperf3")
    server, output = slow.start(
        "server", f"{program.path} --server --one-off --forceflush", dict(program.env)
    )
    while "listening" not in output.read_text():
        time.sleep(0.01)
    began_s = time.monotonic()
    said = slow.run(
        "client", f"{program.path} --client server --time 1 --bitrate 40M --json", dict(program.env)
    )
    assert time.monotonic() - began_s >= FACTOR
    (rate,) = re.findall(r'"sum_received":\s*{[^}]*"bits_per_second":\s*([0-9.e+]+)', said)
    # A busy machine may carry less in its first second; stretched waits with a real clock would show a fifth.
    assert 40e6 / FACTOR * 1.2 < float(rate) < 42e6
    assert slow.agent.wait_exit(server, timeout_s=20) is not None
    assert slow.report("client").refused == slow.report("server").refused == []


def test_redis_expires_keys_in_perceived_time(slow: Slow) -> None:
    packages = prepared(Redis.packages)
    server, client = packages.program("redis-server"), packages.program("redis-cli")
    slow.start(
        "server", f"{server.path} --port 7000 --bind 0.0.0.0 --protected-mode no --save ''", dict(server.env)
    )
    ask = f"{client.path} -h server -p 7000"
    script = f"""
until {ask} ping > /dev/null 2>&1; do sleep 0.02; done
began=$(date +%s%N); {ask} set x 1 px 500
while [ "$({ask} exists x)" = 1 ]; do sleep 0.02; done
echo $(( $(date +%s%N) - began ))
"""
    began_s = time.monotonic()
    stored, lived_ns = slow.run("client", script, dict(client.env)).split()
    assert time.monotonic() - began_s >= 0.5 * FACTOR
    assert stored == "OK"
    # Clients start in some milliseconds each, and in more on a busy machine.
    assert 500e6 <= int(lived_ns) < 1500e6
    assert slow.report("server").refused == []


def test_postgresql_ends_a_statement_at_its_timeout(slow: Slow) -> None:
    if not POSTGRES.exists():
        pytest.skip(f"PostgreSQL is not in {POSTGRES}")
    script = f"""
set -e
{POSTGRES}/initdb -A trust -U u -D d > log 2>&1
{POSTGRES}/pg_ctl -D d -o '-k {slow.folder} -p 7001 -c listen_addresses=' -w -l server start >> log
ask() {{ {POSTGRES}/psql -h {slow.folder} -p 7001 -U u -t -q postgres -c "$1"; }}
ask "{SLEEP}"
ask "set statement_timeout = '200ms'; select pg_sleep(60)" && exit 9
{POSTGRES}/pg_ctl -D d -w stop >> log
"""
    began_s = time.monotonic()
    said = slow.run("client", script, {"PATH": os.defpath})
    assert time.monotonic() - began_s >= 0.5 * FACTOR
    (slept_s,) = re.findall(r"slept ([0-9.]+)", said)
    assert 0.3 <= float(slept_s) < 0.35
    assert "due to statement timeout" in said
    found = slow.report("client")
    assert found.refused == []
    assert found.counters == []
