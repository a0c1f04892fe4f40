"""A real agent and load generator for the tests of this folder; without them they are skipped and say why."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

from crosswind.testbed import Agent, TestbedError, find_binary
from crosswind.testbed.folders import cache_folder

# `pcapng` is shared by these tests, whatever the import mode.
sys.path.insert(0, str(Path(__file__).parent))

START = (sys.executable, "-c", "from crosswind.cli import main; main()")
SOURCES = Path(__file__).parents[2] / "python"
NOBODY = 65534
# Files that take minutes begin first: workers share all files, and would wait for one of them at the end.
LONGEST = (
    "test_kill_anywhere.py",
    "test_app_history.py",
    "test_app_history_right.py",
    "test_app_spark.py",
    "test_kill_machines.py",
    "test_machines_applications.py",
    "test_node_faults.py",
    "test_stop.py",
    "test_console.py",
    "test_slowed_cubic.py",
)
# Of the CPU time: a hypervisor that takes more explains why an emulator stalled.
STOLEN_MIN = 0.01
# Reasons of void trials that are the machine's.
MACHINE = re.compile(
    r"the emulator('s core stalled| waited \d+ ms)|in all \d+(%| ms)|\d+ packets lost in the capture"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest files begin first."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


def cpu_time() -> tuple[int, int]:
    """Return what the hypervisor took of this machine's CPUs and what there was in all, in ticks."""
    times = [int(ticks) for ticks in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return times[7], sum(times)


@dataclass
class Live:
    """A place of its own for runs: folders that other accounts may traverse, and binaries with paths of their
    own.

    Because of these paths, and of the work folder below which applications run, every process that a run has
    started can be told from everything else on the machine.
    """

    folder: Path
    env: dict[str, str]
    command: tuple[str, ...] = START
    time_before: tuple[int, int] = field(default_factory=cpu_time)

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def run_folder(self) -> Path:
        """The latest run of the experiment that `experiment` writes."""
        return (self.results / "live" / "latest").resolve()

    def stored(self) -> set[str]:
        """Return the trials of that run that are finished."""
        connection = sqlite3.connect(self.run_folder / "journal.sqlite")
        try:
            return {name for (name,) in connection.execute("SELECT trial FROM steps WHERE step = 'stored'")}
        finally:
            connection.close()

    def await_step(self, step: str, count: int = 1) -> None:
        """Wait until the journal of that run has `count` entries of a step."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if (self.run_folder / "journal.sqlite").exists():
                connection = sqlite3.connect(self.run_folder / "journal.sqlite")
                query = "SELECT count(*) FROM steps WHERE step = ?"
                (found,) = connection.execute(query, [step]).fetchone()
                connection.close()
                if found >= count:
                    return
            time.sleep(0.01)
        raise AssertionError(f"no {step} within 30 s")

    def agent_pid(self) -> int | None:
        """Return the agent: the process with the agent's program whose parent is not one."""
        agents = {pid for pid, program in self.processes().items() if program.endswith("crosswind-agent")}
        for pid in agents:
            try:
                status = Path(f"/proc/{pid}/stat").read_text()
            except OSError:
                continue
            if int(status.rpartition(")")[2].split()[1]) not in agents:
                return pid
        return None

    def start(
        self, *arguments: str, prefix: tuple[str, ...] = (), **options: object
    ) -> subprocess.Popen[str]:
        process: subprocess.Popen[str] = subprocess.Popen(
            [*prefix, *self.command, *arguments],
            cwd=self.folder,
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **options,  # type: ignore[call-overload]
        )
        return process

    @contextmanager
    def up(self, network: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
        """Bring a network up; its input ends with the block. Give its process, and what it has printed."""
        (self.folder / "network.yaml").write_text(network)
        with self.serving("ready", "up", "network.yaml", *arguments) as found:
            yield found

    @contextmanager
    def serving(self, until: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
        """As `up`, for any verb that serves, from a line that begins with `until`."""
        process = self.start(*arguments, stdin=subprocess.PIPE)
        try:
            assert process.stdout is not None
            said: list[str] = []
            for line in process.stdout:
                said.append(line)
                if line.startswith(until):
                    break
            assert said[-1:], "nothing was printed"
            assert said[-1].startswith(until), said
            yield process, said
        finally:
            process.communicate(timeout=20)

    def run(self, *arguments: str, prefix: tuple[str, ...] = (), timeout_s: float = 120) -> tuple[int, str]:
        """Run a verb to its end; return its exit status and what it printed."""
        process = self.start(*arguments, prefix=prefix, stdin=subprocess.DEVNULL)
        said, _ = process.communicate(timeout=timeout_s)
        return process.returncode, said

    def measured(self, file: str, prefix: tuple[str, ...] = (), timeout_s: float = 120) -> str:
        """Run the trials of a file to their end; return what was printed."""
        status, said = self.run("run", file, prefix=prefix, timeout_s=timeout_s)
        self.check_measured(status, said)
        return said

    def check_measured(self, status: int, said: str) -> None:
        """Check that a run has ended well.

        Skips where trials are void for no other reason than that the emulator stalled, while the
        hypervisor took CPU time: such a machine cannot measure.
        """
        taken = self.stolen()
        if status == 4 and taken is not None and (reason := self._stalled()):
            pytest.skip(f"SKIPPED: {taken}: {reason}")
        assert status == 0, said

    def stolen(self) -> str | None:
        """Return what the hypervisor took of this machine since the test began; None where that is little."""
        stolen, there_was = (now - before for now, before in zip(cpu_time(), self.time_before, strict=True))
        share = stolen / there_was
        return f"the hypervisor took {share:.1%} of this machine" if share > STOLEN_MIN else None

    def check_first_attempts(self) -> None:
        """Skip where an attempt was void and repeated: the test is about what it did to the first."""
        if reason := self._stalled():
            pytest.skip(f"SKIPPED: an attempt was repeated, since {reason}")

    def _stalled(self) -> str | None:
        """Return why the latest run's trials are void, where each of these reasons is a stall."""
        (trials,) = self.results.glob("*/latest/trials.parquet")
        rows = duckdb.execute(f"SELECT status, fidelity, fidelity_reason FROM '{trials}'").fetchall()
        if any(status == "failed" for status, _, _ in rows):
            return None
        reasons = [reason for _, fidelity, reason in rows if fidelity == "void"]
        causes = [cause for reason in reasons for cause in reason.split("; ")]
        return reasons[0] if reasons and all(MACHINE.match(cause) for cause in causes) else None

    def processes(self) -> dict[int, str]:
        """Return the processes that a run of this place has started, by process id."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    program, runs_in = (str((entry / link).readlink()) for link in ("exe", "cwd"))
                except OSError:
                    continue
                if program.startswith(str(self.folder)) or runs_in.startswith(self.env["CROSSWIND_WORK_DIR"]):
                    found[int(entry.name)] = program
        return found

    def await_no_process(self, within_s: float = 2.0) -> None:
        """Check that nothing a run has started is left; without a process no namespace of it is either."""
        deadline = time.monotonic() + within_s
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert left == {}


@pytest.fixture
def live() -> Iterator[Live]:
    try:
        names = ("crosswind-agent", "crosswind-load", "crosswind-simulate")
        binaries = [find_binary(name) for name in names]
        with Agent():
            pass
    except TestbedError as reason:
        pytest.skip(str(reason))
    # Not below pytest's own folder, which other accounts may not enter.
    folder = Path(tempfile.mkdtemp(prefix="crosswind-live-", dir="/var/tmp"))
    folder.chmod(0o755)
    copies = [Path(shutil.copy2(binary, folder)) for binary in binaries]
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCES),
        "CROSSWIND_AGENT": str(copies[0]),
        "CROSSWIND_LOAD": str(copies[1]),
        "CROSSWIND_SIMULATE": str(copies[2]),
        "CROSSWIND_WORK_DIR": str(folder / "work"),
        "CROSSWIND_RUNTIME_DIR": str(folder / "runtime"),
    }
    place = Live(folder, env)
    try:
        yield place
        place.await_no_process()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def as_nobody(live: Live) -> tuple[str, ...]:
    """Make the place nobody's, with a cache of its own that links to the installed packages.

    Returns: what stands before a command that nobody is to run.
    """
    if os.geteuid() != 0:
        pytest.skip("is rootless already: the other tests cover it")
    prefix = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    own = live.folder / "own-cache"
    own.mkdir()
    # The packages belong to root; the cache has to be one's own, so what is in it is linked.
    (own / "requirements").symlink_to(cache_folder() / "requirements")
    live.env |= {
        "HOME": str(live.folder),
        "XDG_CACHE_HOME": str(live.folder),
        "CROSSWIND_CACHE_DIR": str(own),
    }
    for path in (live.folder, own):
        os.chown(path, NOBODY, NOBODY)
    command = [*prefix, *live.command, "--version"]
    probe = subprocess.run(command, env=live.env, capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"another account cannot run this Python: {probe.stderr.strip().splitlines()[-1]}")
    return prefix


@pytest.fixture
def experiment(live: Live) -> Callable[..., str]:
    """Return a function that writes an rpc experiment and returns the name of its file."""

    # A trial of 300 ms is soon void on a busy machine; that is for tests of verdicts.
    def write(repeat: int = 2, duration: str = "300ms", extra: str = "", limits: str = "void: accept") -> str:
        text = f"""
name: live
topology:
  hosts: 2
  uplink: {{rate: 100Mbit/s, delay: 1ms, buffer: 64KiB}}
  wait: sleep
  nodes: {{server: h0, client: h1}}
conditions:
  - none
  - slow: {{link: [{{delay: {{time: 5ms}}}}]}}
application: {{rpc: {{duration: {duration}, warm_up: 100ms}}}}
trials: {{repeat: {repeat}, rest: 0s, seed: 7, limits: {{{limits}}}{extra}}}
"""
        (live.folder / "live.yaml").write_text(text)
        return "live.yaml"

    return write
