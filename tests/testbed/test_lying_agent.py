"""What an agent of a foreign machine prints changes nothing but its trial; a program that lies stands in."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from crosswind.runner import runs
from crosswind.spec import load_experiment, resolve
from crosswind.spec.resolved import REAL_TIME
from crosswind.stream import Event, Stream
from crosswind.testbed import (
    Agent,
    AgentDied,
    AgentRefused,
    MachineAt,
    Native,
    NotHere,
    RunningFabric,
    TestbedError,
    WorkFolder,
)
from crosswind.testbed.agent import NOBODY
from crosswind.testbed.fabric import grace_of
from crosswind.testbed.files import ThereFiles
from crosswind.testbed.machines import Machines
from crosswind.testbed.plain import plain_fabric
from crosswind.testbed.replies import Measuring
from crosswind.testbed.testbed import RunningTestbed

LIAR = Path(__file__).parent / "lying_agent.py"
# Beyond what a line may have, with a copy of it, and what Python itself needs.
MEMORY_BYTES_MAX = 400 << 20
# ELOOP, ENOTDIR of a link to a folder, ENXIO of a pipe that nobody reads.
NOT_FOLLOWED = "Too many levels of symbolic links|Not a directory|No such device or address"
EXPERIMENT = """
name: live
topology: {hosts: 2, uplink: {rate: 1Gbit/s, delay: 1ms, buffer: 64KiB}, nodes: {server: h0, client: h1}}
conditions: [none]
application: {rpc: {duration: 1s, warm_up: 0s}}
trials: {repeat: 1, rest: 0s, seed: 7}
"""


@dataclass(frozen=True)
class Liar:
    """The way to a machine whose agent tells a lie."""

    lie: str
    title: str = "agent on m0"
    lease_s: int = 60
    is_here: bool = False

    def start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, LIAR, self.lie], stdin=pipe, stdout=pipe, stderr=pipe)

    def explained(self, status: int | None, printed: object) -> str | None:
        return None


@pytest.fixture(autouse=True)
def own_work_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CROSSWIND_WORK_DIR", str(tmp_path / "work"))


@contextmanager
def agent_that(lie: str) -> Iterator[Agent]:
    """Give an agent that lies; afterwards it is gone, at once where it was found out."""
    with Agent(Liar(lie)) as agent:
        yield agent
        # One that was found out is dead already; others would not heed the end of their input.
        with contextlib.suppress(ProcessLookupError):
            os.kill(agent.pid, signal.SIGKILL)
    assert not Path(f"/proc/{agent.pid}").exists()


def memory_bytes() -> int:
    """Return the most that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ("gigabyte-line", "it printed a line of more than 67108864 bytes"),
        ("no-json", "it printed a line of another form (Invalid JSON"),
        ("deep-json", "it printed a line of another form (Invalid JSON"),
        ("long-number", ""),
        (
            "wrong-type",
            "its answer to 'measure' has another form (started_ns: Input should be a valid integer",
        ),
        ("number-of-a-request", "it printed a line of another form (id: Input should be a valid integer"),
        ("unasked", "it answered request 1000, which is not waiting for it"),
        ("unasked-steps", "no answer to 'measure' within 1 s"),
        ("unasked-ends", "it reported the end of more processes than it was to start"),
        ("silent", "no answer to 'measure' within 1 s"),
    ],
)
def test_a_line_that_is_no_answer_ends_the_agent_and_memory_stays_bounded(lie: str, why: str) -> None:
    before = memory_bytes()
    with agent_that(lie) as agent, pytest.raises(AgentDied) as refused:
        agent.request("measure", Measuring, timeout_s=1.0 if "within 1 s" in why else 30.0)
    assert str(refused.value).startswith(f"agent on m0: {why}")
    assert str(refused.value).isprintable()
    assert memory_bytes() - before < MEMORY_BYTES_MAX


def test_a_second_answer_is_none() -> None:
    with agent_that("answered-twice") as agent:
        assert agent.request("measure", Measuring).started_ns == 1
        os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(AgentDied, match="it answered request 3, which is not waiting for it"):
            agent.request("measure", Measuring)


def test_complaints_without_end_are_read_and_forgotten() -> None:
    before = memory_bytes()
    with agent_that("complaints") as agent, pytest.raises(AgentDied, match="no answer to 'measure'"):
        agent.request("measure", Measuring, timeout_s=1)
    assert memory_bytes() - before < MEMORY_BYTES_MAX


def test_a_message_cannot_write_on_the_terminal() -> None:
    with agent_that("escapes") as agent, pytest.raises(AgentRefused) as refused:
        agent.request("measure", Measuring)
    assert str(refused.value).isprintable()
    assert r"\x1b[2J" in str(refused.value)
    assert len(str(refused.value)) < 3_000


@pytest.mark.parametrize("lie", ["a-node-twice", "another-node"])
def test_nodes_that_are_not_of_the_network_are_refused(lie: str, tmp_path: Path) -> None:
    with (
        agent_that(lie) as agent,
        pytest.raises(AgentDied, match="it made other nodes than those of the network"),
        RunningFabric(agent, plain_fabric(), tmp_path),
    ):
        pass


@pytest.mark.parametrize(("lie", "factor"), [("account-of-root", 1), ("account-of-root", 4), ("slower", 4)])
def test_an_agent_that_does_not_slow_time_down_as_requested_is_found_out(
    lie: str, factor: int, tmp_path: Path
) -> None:
    with (
        agent_that(lie) as agent,
        pytest.raises(AgentDied, match="it did not slow time down in the nodes"),
        RunningFabric(agent, plain_fabric().with_changes(dilation=factor), tmp_path),
    ):
        pass


def test_waits_and_instants_are_perceived_ones(tmp_path: Path) -> None:
    slow = plain_fabric().with_changes(dilation=100)
    with agent_that("slower") as agent, RunningFabric(agent, slow, tmp_path) as fabric:
        # The agent's anchor is 0.
        assert time.monotonic_ns() // 100 - fabric.now_ns() < 1_000_000
        process = fabric.start("n0", "sleeps", ["sleep"], cwd=tmp_path)
        assert fabric.now_ns() - process.started_ns < 10_000_000
        began_s = time.monotonic()
        assert process.wait(0.002) is None
        assert 0.2 <= time.monotonic() - began_s < 2
        # A perceived grace would be 400 s.
        assert grace_of(fabric.time, 4.0) == 60
        assert grace_of(REAL_TIME, 4.0) == 4


def test_a_measurement_of_another_form_is_refused(tmp_path: Path) -> None:
    with agent_that("no-measurement") as agent, RunningFabric(agent, plain_fabric(), tmp_path) as fabric:
        with pytest.raises(AgentDied, match="its answer to 'read' has another form") as refused:
            fabric.read()
        assert str(refused.value).isprintable()


def test_datagrams_go_to_no_address_that_a_machine_makes_up() -> None:
    places = [MachineAt(name, Liar("another-address"), "10.0.0.7") for name in ("m0", "m1")]
    with (
        WorkFolder() as work,
        pytest.raises(AgentDied, match=r"its socket is at 203\.0\.113\.9:53 and not at 10\.0\.0\.7"),
        Machines(places, work),
    ):
        pass


@pytest.mark.parametrize("lie", ["another-address", "address-of-a-group", "address-of-nobody"])
def test_frames_go_to_the_address_of_one_interface(lie: str) -> None:
    places = [MachineAt(name, Liar(lie), "10.0.0.7", native=Native()) for name in ("m0", "m1")]
    refused = pytest.raises(AgentDied, match=r"not at an Ethernet interface")
    with WorkFolder() as work, refused, Machines(places, work):
        pass


def test_no_machine_takes_the_frames_of_another() -> None:
    places = [
        MachineAt(name, Liar("one-ethernet-address"), "10.0.0.7", native=Native()) for name in ("m0", "m1")
    ]
    with (
        WorkFolder() as work,
        pytest.raises(
            NotHere, match=r"machines m0 and m1: both have the Ethernet address 02:00:00:00:00:01; name"
        ),
        Machines(places, work),
    ):
        pass


def test_a_machine_chooses_no_account_of_this_one() -> None:
    with agent_that("account-of-root") as agent:
        assert (agent.hello.application_uid, agent.application_account) == (0, (NOBODY, NOBODY))


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ("endless-file", "has 4398046511104 bytes, and 4294967296 are fetched at most"),
        ("absurd-size", "its answer to 'get' has another form (size_bytes: Input should be less than"),
        ("negative-size", "its answer to 'get' has another form (size_bytes: Input should be greater than"),
        ("short-file", "ends after 1048576 of 5000000 bytes"),
        ("long-piece", "came with 2000000 bytes where 0 were requested"),
        ("no-base64", "has bytes that are not in base64"),
    ],
)
def test_a_file_of_another_size_than_was_said_is_refused(lie: str, why: str) -> None:
    with WorkFolder() as work, agent_that(lie) as agent:
        files = fresh(work, agent)
        with pytest.raises(AgentDied) as refused:
            files.bring(work.path / "trial" / "samples")
        assert why in str(refused.value)
        assert sum(path.stat().st_size for path in work.path.rglob("*")) < 2 << 20


def test_of_a_file_that_grows_no_more_is_fetched_than_it_had() -> None:
    with WorkFolder() as work, agent_that("grown-file") as agent:
        files = fresh(work, agent)
        files.bring(work.path / "trial" / "samples")
        assert (work.path / "trial" / "samples").read_bytes() == b"x" * 10


def test_a_file_with_another_checksum_than_the_machine_has_is_refused() -> None:
    with WorkFolder() as work, agent_that("other-content") as agent:
        files = fresh(work, agent)
        with pytest.raises(TestbedError, match=r"trial/samples: its checksum is [0-9a-f]{64}, that of what"):
            files.bring(work.path / "trial" / "samples")


@pytest.mark.parametrize("way", ["samples", "folder/samples", "up", "pipe", "device"])
def test_no_link_leads_out_of_the_folder(way: str, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "samples").write_text("precious")
    with WorkFolder() as work, agent_that("grown-file") as agent:
        files, trial = fresh(work, agent), work.path / "trial"
        path = trial / way
        if way == "samples":
            path.symlink_to(precious / "samples")
        elif way == "folder/samples":
            path.parent.symlink_to(precious)
        elif way == "up":
            path = trial / ".." / ".." / ".." / "precious" / "samples"
        elif way == "pipe":
            os.mkfifo(path)
        elif os.geteuid() == 0:
            os.mknod(path, 0o020666, os.makedev(1, 3))
        else:
            pytest.skip("SKIPPED: a device needs root")
        with pytest.raises(OSError, match=str(path) if way in ("up", "device") else NOT_FOLLOWED):
            files.bring(path)
    assert (precious / "samples").read_text() == "precious"
    assert [path.name for path in precious.iterdir()] == ["samples"]


def fresh(work: WorkFolder, agent: Agent) -> ThereFiles:
    files = ThereFiles(agent, work.path)
    folder = work.path / "trial"
    folder.mkdir()
    files.fresh(folder)
    return files


def test_the_trial_says_why_and_nothing_is_written_outside_of_the_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Lying(RunningTestbed):
        @contextmanager
        def fabric(self, spec, work, logs, files=None, limits=None):  # type: ignore[no-untyped-def]
            with Agent(Liar("up-gigabyte-line")) as agent, RunningFabric(agent, spec, logs) as fabric:
                yield fabric

    (tmp_path / "live.yaml").write_text(EXPERIMENT)
    monkeypatch.setattr(runs, "testbed_of", lambda *_: Lying())
    before, resolved = memory_bytes(), resolve(load_experiment(tmp_path / "live.yaml"))
    runs.run(resolved, EXPERIMENT, tmp_path, tmp_path / "results", Stream[Event](), report=lambda _: None)
    trials = tmp_path / "results" / "live" / "latest" / "trials.parquet"
    rows = duckdb.sql(f"SELECT status, reason FROM '{trials}'").fetchall()
    assert {status for status, _ in rows} == {"failed"}
    assert all("agent on m0: it printed a line of more than 67108864 bytes" in why for _, why in rows)
    assert {path.name for path in tmp_path.iterdir()} == {"live.yaml", "results", "work"}
    assert list((tmp_path / "work").iterdir()) == []
    assert memory_bytes() - before < MEMORY_BYTES_MAX
