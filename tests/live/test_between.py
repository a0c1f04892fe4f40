"""All pairs of machines over a network whose delays and rates are known; each has sshd and its own clock."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import machines as rigs
import pytest
from machines import Rig

import crosswind
from crosswind.analysis.network.document import read_fingerprint
from crosswind.fingerprint.between.document import PairFigures, read_between
from crosswind.fingerprint.between.meeting import Meeting
from crosswind.spec import load_setup
from crosswind.testbed import Agent, TestbedError, find_binary
from crosswind.testbed.errors import AgentRefused
from crosswind.testbed.replies import Reply

MS = 1_000_000
COUNT = 3
NAMES = [f"m{number}" for number in range(COUNT)]
# One way, in ms; no two are the same, and no pair has the same both ways.
TRUE_MS = {
    ("m0", "m1"): 2.0,
    ("m1", "m0"): 6.0,
    ("m0", "m2"): 9.0,
    ("m2", "m0"): 3.0,
    ("m1", "m2"): 4.0,
    ("m2", "m1"): 5.0,
}
RATE_MBPS = 80
# Of a packet of 1500 bytes: payload of TCP, and on the wire.
PAYLOAD_SHARE = 1448 / 1538
# What two network stacks and the emulator of a busy machine add to a delay.
ADDED_NS = 1 * MS
UNDONE_S = 10.0


def underlay() -> dict[str, object]:
    """Return a network of zones, with the client in one of its own."""
    every = ["client", *NAMES]
    delays = {
        f"at-{source}": {
            f"at-{target}": f"{TRUE_MS.get((source, target), 1.0)}ms" for target in every if target != source
        }
        for source in every
    }
    return {
        "zones": {"delay": delays, "rate": f"{RATE_MBPS}Mbit/s", "buffer": "1MiB"},
        "nodes": {name: f"at-{name}" for name in every},
        "wait": "sleep",
    }


@dataclass(frozen=True)
class LocalBetween:
    """A `crosswind-agent between` of this machine."""

    title: str
    lease_s: int = 10
    is_here: bool = True

    def start(self) -> subprocess.Popen[bytes]:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([find_binary("crosswind-agent"), "between"], **streams)  # type: ignore[call-overload, no-any-return]

    def explained(self, status: int | None, printed: Sequence[str]) -> str | None:
        return None


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    try:
        find_binary("crosswind-agent")
    except TestbedError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    if reason := rigs.missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="crosswind-between-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with rigs.machines(COUNT, folder, topology=underlay()) as rig:
            yield rig


def command(rig: Rig, *words: object) -> subprocess.Popen[str]:
    start = [sys.executable, "-c", "from crosswind.cli import main; main()"]
    return subprocess.Popen(
        [*start, *map(str, words)],
        env=rig.env | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def inventory(folder: Path) -> Path:
    file = folder / "testbed.yaml"
    file.write_text(f"ssh: {{hosts: [{', '.join(NAMES)}]}}\n")
    return file


def check_pair(pair: PairFigures) -> None:
    """Check what was found against what the underlay does."""
    true_ns = TRUE_MS[pair.source, pair.target] * MS
    back_ns = TRUE_MS[pair.target, pair.source] * MS
    assert pair.ended is None
    assert pair.delay_ns is not None
    assert pair.bound_ns is not None
    assert pair.round_trip_ns is not None
    # What the bound promises. Packets of a busy machine are late besides, and that is a part of their delay.
    assert abs(pair.delay_ns - true_ns) <= pair.bound_ns + ADDED_NS, pair
    # It is half of the shortest round trip, to which this machine adds.
    assert (true_ns + back_ns) / 2 <= pair.bound_ns * 1.001 <= (true_ns + back_ns) / 2 + ADDED_NS, pair
    # Without clocks: both ways together.
    assert true_ns + back_ns <= pair.round_trip_ns <= true_ns + back_ns + 2 * ADDED_NS, pair


def test_two_ends_on_one_clock_agree_with_it() -> None:
    with Agent(LocalBetween("near")) as near, Agent(LocalBetween("far")) as far:
        with Meeting((near, far), ("127.0.0.1", "127.0.0.1")) as meeting:
            there, back = meeting.delays(100, 200)
            bulk = meeting.bulk(0, 2, 0.2).bulk
            with pytest.raises(AgentRefused, match="must be from 1 to"):
                meeting.delays(0, 200)
        for delays in (there, back):
            assert (delays.sent, delays.lost, len(delays.round_trip_ns)) == (100, 0, 100)
            # The truth is one clock: a delay is above zero, and an error is within the bound.
            assert min(delays.delay_ns) > 0
            assert delays.bound_ns < MS
        assert len(bulk.each_bps) == 2
        assert bulk.goodput_bps > 1e7
        with pytest.raises(AgentRefused, match="request `open` first"):
            near.request("receive", Reply, {"connections": 1, "warm_up_ns": 0, "window_ns": 1, "part_ns": 1})


@pytest.fixture(scope="module")
def measured(rig: Rig) -> Iterator[tuple[Path, str]]:
    """Measure once; return the folder, and what was printed."""
    with tempfile.TemporaryDirectory(prefix="crosswind-measured-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        out = folder / "between"
        running = command(rig, "fingerprint", "--testbed", inventory(folder), "--out", out)
        printed, complaints = running.communicate(timeout=180)
        assert running.returncode == 0, complaints
        for machine in rig.machines:
            machine.await_no_process(UNDONE_S)
        yield out, printed


@pytest.mark.long
@pytest.mark.alone
def test_delays_rates_and_losses_of_all_pairs_agree_with_the_truth(measured: tuple[Path, str]) -> None:
    out, printed = measured
    print(printed)
    found = read_between(out)
    assert (found.rounds, found.left_out) == (3, [])
    assert {(pair.source, pair.target) for pair in found.pairs} == set(TRUE_MS)
    for pair in found.pairs:
        check_pair(pair)
        assert pair.loss is not None
        assert pair.loss < 0.02
        assert pair.goodput_bps == pytest.approx(RATE_MBPS * 1e6 * PAYLOAD_SHARE, rel=0.2), pair
        assert pair.wire_bps == pytest.approx(RATE_MBPS * 1e6, rel=0.2)
    assert "6 of 6 ordered pairs measured in 3 rounds" in printed
    assert "\u00b1" in printed
    one = read_fingerprint(out / "pairs/m0-to-m1.json")
    assert one.delay is not None
    assert len(one.delay.each_ns) + one.delay.lost == 400


@pytest.mark.long
@pytest.mark.alone
def test_nothing_is_left_on_a_machine_and_nothing_but_sshd_listens(
    rig: Rig, measured: tuple[Path, str]
) -> None:
    for machine in rig.machines:
        listening = machine.run("cat", "/proc/net/tcp").splitlines()[1:]
        assert [line.split()[1].split(":")[1] for line in listening if line.split()[3] == "0A"] == ["0016"]
        assert len(machine.run("cat", "/proc/net/udp").splitlines()) == 1


@pytest.mark.long
@pytest.mark.alone
def test_an_experiment_runs_on_what_was_measured(measured: tuple[Path, str]) -> None:
    out, _ = measured
    check_topology(out)
    folder = out.parent
    (folder / "experiment.yaml").write_text(
        "name: on-what-was-measured\n"
        "topology:\n"
        "  zones:\n"
        "    delay: {matrix: between/delay.csv, unit: us, value: one-way}\n"
        "    jitter: {matrix: between/jitter.csv, unit: us}\n"
        "    loss: {matrix: between/loss.csv, unit: '%'}\n"
        "    rate: {matrix: between/rate.csv, unit: Mbit/s}\n"
        "  nodes: {server: m0, client: m2}\n"
        "conditions: [none]\n"
        "application: {rpc: {size: small, connections: 1, duration: 2s, warm_up: 500ms}}\n"
        "trials: {repeat: 1}\n"
    )
    start = [sys.executable, "-c", "from crosswind.cli import main; main()"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for words in (["validate", "experiment.yaml"], ["run", "experiment.yaml"]):
        done = subprocess.run(
            [*start, *words], cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    # The attempts before the last one were void.
    *_, (latency_ns,) = (
        crosswind.load(folder / "results" / "on-what-was-measured")
        .metrics.filter("metric = 'latency' AND statistic = 'p50'")
        .order("trial")
        .project("value")
        .fetchall()
    )
    # 9 ms there and 3 ms back, however they are divided.
    assert 12 * MS * 0.98 <= latency_ns <= 12 * MS + 3 * ADDED_NS


def check_topology(out: Path) -> None:
    """Check that an experiment can use the folder."""
    load_setup(out / "topology.yaml").resolved(1)
    with (out / "delay.csv").open() as file:
        head, *rows = list(csv.reader(file))
    assert head[1:] == NAMES
    assert [row[0] for row in rows] == NAMES
    cells = {
        (row[0], name): float(cell) for row in rows for name, cell in zip(NAMES, row[1:], strict=True) if cell
    }
    assert set(cells) == set(permutations(NAMES, 2))


@pytest.mark.long
def test_a_machine_that_fails_in_the_middle_loses_its_pairs_alone(rig: Rig, tmp_path: Path) -> None:
    out, gone = tmp_path / "between", rig.machines[2]
    running = command(rig, "fingerprint", "--testbed", inventory(tmp_path), "--out", out)
    cut = threading.Event()

    def cut_when_measured() -> None:
        # The first round is m1 and m2; the link goes in the middle of it.
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not gone.processes():
            time.sleep(0.05)
        time.sleep(0.5)
        gone.cut()
        cut.set()

    cutter = threading.Thread(target=cut_when_measured)
    cutter.start()
    try:
        printed, complaints = running.communicate(timeout=240)
    finally:
        cutter.join()
        if cut.is_set():
            gone.mend()
    assert running.returncode == 4, complaints
    assert "4 of 6 ordered pairs were not measured" in complaints
    found = read_between(out)
    assert found.left_out == ["m2"]
    for pair in found.pairs:
        if "m2" in (pair.source, pair.target):
            assert pair.ended is not None
            assert pair.delay_ns is None
        else:
            check_pair(pair)
    assert "m2" in printed
    with (out / "delay.csv").open() as file:
        assert next(csv.reader(file))[1:] == ["m0", "m1"]
    assert json.loads((out / "between.json").read_text())["schema"] == 1
