"""Disks of nodes become full and slow under load, are whole again when released, and end with their node."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_node_faults import MS, faults_of, latest, measured, operations

from crosswind.app.stores.postgresql import POSTGRESQL
from crosswind.testbed import Agent, AgentRefused
from crosswind.testbed.replies import Reply

if TYPE_CHECKING:
    from conftest import Live

# Each line is what the kernel's clock shows after a write, in seconds, and how it ended. A file that is
# written once is never smaller than before, so a full disk stays full.
WRITER = """\
n=0
while :; do
  if {write}; then said=ok; else said=full; fi
  echo "$(cut -d' ' -f1 /proc/uptime) $said"
  n=$((n+1)); {rest}
done
"""
NODES = "server: h0, client: h1"


@pytest.fixture(autouse=True)
def _able() -> None:
    with Agent() as agent:
        try:
            agent.request("disks", Reply, {"rate": True})
        except AgentRefused as refused:
            if refused.kind == "preflight":
                pytest.skip(f"SKIPPED: {refused}")
            raise


def writes(live: Live, faults: str, write: str, rest: str) -> tuple[Path, list[tuple[float, str]]]:
    """Run a server that writes for four seconds; return the run, and when each write ended, ns, and how."""
    script = WRITER.format(write=write, rest=rest)
    (live.folder / "writer.sh").write_text(script)
    folder = measured(
        live,
        faults,
        "command: {roles: {server: {command: [/bin/sh, writer.sh], files: [writer.sh], "
        "ready: {regex: ok}}, client: {command: [/bin/sleep, '4']}}, load: client, "
        "metrics: {took: {elapsed: true, better: lower}}}",
        NODES,
    )
    # A kill may have cut the last line off.
    lines = latest(folder, "logs/*/server/server.out").read_text().splitlines()[:-1]
    ended = [line.split() for line in lines]
    return folder, [(float(at_s) * 1e9, said) for at_s, said in ended]


def between(ended: Sequence[tuple[float, str]], begin_ns: float, end_ns: float) -> list[str]:
    """Return how writes ended within a time, except for those near its ends, which may have begun outside."""
    near_ns = 100 * MS
    return [said for at_ns, said in ended if begin_ns + near_ns < at_ns < end_ns - near_ns]


def test_a_disk_is_full_from_the_instant_of_its_fault_until_it_is_released(live: Live) -> None:
    folder, ended = writes(
        live,
        "at: {1s: {disk: {nodes: server, free: 0B}}, 2500ms: {release: server}}",
        "head -c 65536 /dev/zero 2> /dev/null > part.$n",
        "sleep 0.01",
    )
    full, released = faults_of(folder)
    assert (full.words, released.words) == ("disk server (free 0B)", "release server")
    assert set(between(ended, 0, full.due_ns)) == {"ok"}
    meanwhile = between(ended, full.done_ns, released.due_ns)
    assert set(meanwhile) == {"full"}
    assert len(meanwhile) > 3
    # A busy machine gives the server little time.
    after = between(ended, released.done_ns, float("inf"))
    assert set(after) == {"ok"}


def test_a_slow_disk_writes_at_its_rate_until_it_is_released(live: Live) -> None:
    folder, ended = writes(
        live,
        "at: {500ms: {disk: {nodes: server, rate: 2MiB/s}}, 3500ms: {release: server}}",
        "dd if=/dev/zero of=part bs=128k count=1 oflag=dsync conv=notrunc 2> /dev/null",
        ":",
    )
    slow, released = faults_of(folder)
    assert (slow.words, released.words) == ("disk server (rate 2MiB/s)", "release server")
    written = (128 << 10) * len(between(ended, slow.done_ns, released.due_ns))
    of_rate = written / ((released.due_ns - slow.done_ns - 200 * MS) / 1e9) / (2 << 20)
    # What a busy machine holds up is missing, and the kernel lets a program catch up for a tenth of a second.
    assert 0.7 < of_rate < 1.15


def test_an_interrupted_run_leaves_no_disk(live: Live) -> None:
    (live.folder / "writer.sh").write_text(
        WRITER.format(write="dd if=/dev/zero of=part bs=64M count=1 conv=fsync", rest=":")
    )
    text = (
        "name: disk-faults\n"
        "topology: {hosts: 2, uplink: {rate: 1Gbit/s}, wait: sleep, nodes: {server: h0, client: h1}}\n"
        "conditions: [{slow: {at: {100ms: {disk: {nodes: server, rate: 64KiB/s}}}}}]\n"
        "application: {command: {roles: {server: {command: [/bin/sh, writer.sh], files: [writer.sh],\n"
        "  ready: {regex: ok}}, client: {command: [/bin/sleep, '60']}}, load: client,\n"
        "  metrics: {took: {elapsed: true, better: lower}}}}\n"
        "trials: {repeat: 1, rest: 0s, limits: {void: accept}}\n"
    )
    (live.folder / "faults.yaml").write_text(text)
    running = live.start("run", "faults.yaml")
    deadline_s = time.monotonic() + 30
    while not list(live.folder.glob("results/disk-faults/*/logs/*/client/client.out")):
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    time.sleep(2)
    assert devices()
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=30)
    assert running.returncode == 4, said
    live.await_no_process()
    while devices():
        assert time.monotonic() < deadline_s + 30
        time.sleep(0.02)


def devices() -> list[str]:
    """Return the loop devices whose file has no name any more, as those of nodes."""
    files = [path / "loop/backing_file" for path in Path("/sys/block").iterdir()]
    shown = [file.read_text().strip() for file in files if file.exists()]
    return [each for each in shown if each.endswith("(deleted)")]


@pytest.mark.long
@pytest.mark.skipif(bool(POSTGRESQL.missing()), reason="SKIPPED: PostgreSQL is missing")
def test_postgresql_fails_on_a_full_disk_and_comes_back(live: Live) -> None:
    folder = measured(
        live,
        "at: {4s: {disk: {nodes: db0, free: 0B}}, 10s: {release: db0}}",
        "ycsb: {workload: a, records: 1000, clients: 8, warm_up: 2s, rate: 400/s, duration: 25s}",
        "db0: h0, db1: h1, db2: h2, client: h3",
        timeout_s=300,
    )
    full, released = faults_of(folder)
    assert operations(folder, f"NOT ok AND started_ns < {full.due_ns}") == 0
    assert operations(folder, f"NOT ok AND started_ns BETWEEN {full.done_ns} AND {released.due_ns}") > 10
    # After a crash on a full disk it recovers in seconds.
    late = f"started_ns > {released.done_ns + 10_000 * MS}"
    assert operations(folder, f"ok AND {late}") > 100
    assert operations(folder, f"NOT ok AND {late}") == 0
