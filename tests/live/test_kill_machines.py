"""Whatever is killed while machines carry a network, nothing stays on them, and nothing finished is lost.

The command line, an agent, a connection's sshd, a link for 10 s, a clock: at random instants of a run that is
resumed again and again.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from machine_runs import Place, experiment, rig_of
from machines import Machine

from crosswind.testbed import find_binary
from crosswind.testbed.ssh.transport import LEASE_S

pytestmark = pytest.mark.long

SEED = 20261126
# What a busy machine needs to end processes.
UNDONE_S = 15.0
CUT_S = 10.0
STEP_NS = 30_000_000
# Of the last machine, so that its programs load a clock that can be set.
DRIFT_PPM = 20
TRIALS = 12
KILLS = int(os.environ.get("CROSSWIND_KILLS", "5"))
EXPERIMENT = experiment(
    {"server": "left", "idle": "right", "client": "far"}, warm_up="200ms", repeat=TRIALS // 2
)


@dataclass
class KillPlace(Place):
    """A folder for runs that are killed, and machines for them.

    Attributes:
        had: what was in the folder before any run.
        before: the latest run when another one began.
    """

    had: set[str]
    before: Path | None = None

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a verb; everything that it starts here can be ended with it."""
        self.before = self.run_folder if arguments[0] == "run" else None
        return self.start(*arguments, new_session=True)

    def begins(self) -> tuple[str, ...]:
        return ("run", "live.yaml", "--testbed", "testbed.yaml")

    def journal(self, query: str) -> list[tuple[Any, ...]]:
        """Return rows of the latest run's journal; none before it has one."""
        path = self.run_folder / "journal.sqlite"
        try:
            # Never made here: the run would find an empty one.
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", timeout=10, uri=True)) as journal:
                return journal.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    def stored(self) -> set[str]:
        return {trial for (trial,) in self.journal("SELECT trial FROM steps WHERE step = 'stored'")}

    def await_step(self, step: str, count: int = 1) -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if self.run_folder != self.before:
                [(found,)] = self.journal(f"SELECT count(*) FROM steps WHERE step = '{step}'") or [(0,)]
                if found >= count:
                    return
            time.sleep(0.02)
        raise AssertionError(f"no {step} within 120 s")

    def await_undone(self) -> None:
        """Check that no process, no interface and no file of a run is on any machine."""
        for machine in self.rig.machines:
            machine.await_no_process(LEASE_S + UNDONE_S)
            assert "veth" not in machine.run("ip", "-brief", "link")
            assert machine.run("find", "/var/tmp", "-name", "run-*") == ""


@pytest.fixture(scope="module")
def place() -> Iterator[KillPlace]:
    if not shutil.which("cc"):
        pytest.skip("SKIPPED: a clock needs cc")
    with rig_of(3, drifts_ppm={2: DRIFT_PPM}) as (rig, folder):
        # Not the static one, which loads no other clock.
        rig.env["CROSSWIND_AGENT"] = str(find_binary("crosswind-agent"))
        (folder / "live.yaml").write_text(EXPERIMENT)
        (folder / "testbed.yaml").write_text("ssh: {hosts: [m0, m1, m2]}\n")
        yield KillPlace(rig, folder, {path.name for path in folder.iterdir()})


# Fifty take a quarter of an hour.
@pytest.mark.timeout(300 + 60 * KILLS)
def test_kills_at_random_instants_leave_nothing_and_lose_nothing(place: KillPlace) -> None:
    chance = random.Random(SEED + KILLS)
    first_trial_s = seconds_to_a_stored_trial(place)
    finished: set[str] = set()
    happened: dict[str, int] = {}
    for number in range(KILLS):
        # The first runs are hit while they begin; what the last of them left is resumed.
        begins = number < max(2, KILLS // 10) or len(finished) == TRIALS
        running = place.begin(*(place.begins() if begins else ("resume",)))
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(chance.uniform(0.2, 1.2) * first_trial_s)
        what = chance.choice(list(HAPPENS))
        happened[what] = happened.get(what, 0) + 1
        HAPPENS[what](place, chance, running)
        if what != "controller":
            # It goes on for a while: it must see what happened, and not hang.
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(2 * first_trial_s)
            kill_controller(place, chance, running)
        running.communicate()
        place.await_undone()
        now = place.stored()
        assert begins or finished <= now, what
        finished = now
        for trial in finished:
            samples = list((place.run_folder / "samples").glob(f"{trial}*.parquet"))
            assert any(count_rows(path) for path in samples), trial
    running = place.begin("resume")
    said, _ = running.communicate(timeout=600)
    assert running.returncode == 0, said
    assert len(place.stored()) == TRIALS
    place.await_undone()
    print(f"{KILLS} kills: {happened}; a run takes {first_trial_s:.1f} s to its first trial")


def test_a_clock_that_is_set_voids_the_trial_it_fell_into_and_no_other(place: KillPlace) -> None:
    running = place.begin(*place.begins(), "--only", "none")
    place.await_step("prepared")
    # In the measured second.
    time.sleep(0.8)
    place.rig.machines[2].set_clock(STEP_NS)
    said, _ = running.communicate(timeout=300)
    assert running.returncode == 0, said
    trials = f"'{place.run_folder}/trials.parquet'"
    select = f"SELECT fidelity, fidelity_reason FROM {trials} WHERE status = 'done' ORDER BY position"
    (hit, why), *others = duckdb.sql(select).fetchall()
    assert hit == "void"
    assert "the clock of m2 was set, as m0 saw it" in why
    assert all("was set" not in (reason or "") for _, reason in others)
    place.await_undone()


def test_a_machine_whose_disk_is_full_fails_its_trial_and_says_why(place: KillPlace) -> None:
    client = place.rig.machines[2]
    # A disk of its own, which no other machine has.
    client.run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/var/tmp")
    running = place.begin(*place.begins(), "--only", "none")
    place.await_step("prepared")
    fill = "dd if=/dev/zero of=/var/tmp/full bs=4k 2> /dev/null || true"
    client.run("mount", "-o", f"remount,size={used_bytes(client) + (1 << 20)}", "/var/tmp")
    try:
        client.run("sh", "-c", fill)
        place.await_step("failed")
    finally:
        client.run("rm", "-f", "/var/tmp/full")
        client.run("mount", "-o", "remount,size=1g", "/var/tmp")
    said, _ = running.communicate(timeout=300)
    assert running.returncode == 4, said
    trials = f"'{place.run_folder}/trials.parquet'"
    first, *others = duckdb.sql(f"SELECT status, reason FROM {trials} ORDER BY position").fetchall()
    assert first[0] == "failed"
    assert "No space left on device" in first[1]
    assert {status for status, _ in others} == {"done"}
    assert {path.name for path in place.folder.iterdir()} == place.had | {"results", "work"}
    place.await_undone()
    client.run("umount", "/var/tmp")


def used_bytes(machine: Machine) -> int:
    """Return what is used of a machine's /var/tmp."""
    return int(machine.run("df", "-B1", "--output=used", "/var/tmp").split()[1])


def seconds_to_a_stored_trial(place: KillPlace) -> float:
    """Start the run, kill it when its first trial is stored, and return how long this machine took for it."""
    began = time.monotonic()
    running = place.begin(*place.begins())
    place.await_step("stored")
    lasted_s = time.monotonic() - began
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    place.await_undone()
    return lasted_s


def kill_controller(place: KillPlace, chance: random.Random, running: subprocess.Popen[str]) -> None:
    running.kill()


def kill_agent(place: KillPlace, chance: random.Random, running: subprocess.Popen[str]) -> None:
    machine = chance.choice(place.rig.machines)
    agents = [pid for pid, words in machine.processes().items() if "crosswind-agent" in words]
    if agents:
        kill(min(agents))


def kill_sshd(place: KillPlace, chance: random.Random, running: subprocess.Popen[str]) -> None:
    for pid in chance.choice(place.rig.machines).connections():
        kill(pid)


def cut_link(place: KillPlace, chance: random.Random, running: subprocess.Popen[str]) -> None:
    machine = chance.choice(place.rig.machines)
    machine.cut()
    try:
        time.sleep(CUT_S)
    finally:
        machine.mend()


def set_clock(place: KillPlace, chance: random.Random, running: subprocess.Popen[str]) -> None:
    # Forward, as when a machine was paused.
    place.rig.machines[2].set_clock(STEP_NS)


HAPPENS = {
    "controller": kill_controller,
    "agent": kill_agent,
    "sshd": kill_sshd,
    "link": cut_link,
    "clock": set_clock,
}


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def count_rows(path: Path) -> int:
    ((count,),) = duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall()
    return int(count)
