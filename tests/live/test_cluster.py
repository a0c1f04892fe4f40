"""Several agents carry one network: a run of requests and responses, and what happens when one is lost.

The agents are children of this process, each with namespaces of its own, and exchange datagrams over the
loopback interface. They have the same clock, so what is estimated of it can be compared with 0.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from machine_runs import ROUND_TRIP_NS, ZONES, check_within, experiment, measured, rows

from crosswind.plan import selected
from crosswind.results import Measurement
from crosswind.runner import runs
from crosswind.spec import load_experiment, resolve
from crosswind.spec.fabric import fabric_of
from crosswind.stream import Event, Step, Stream
from crosswind.testbed import (
    MachineAt,
    RunningTestbed,
    SeveralMachines,
    TestbedError,
    ThisMachine,
    WorkFolder,
)
from crosswind.testbed.transport import LocalChild

if TYPE_CHECKING:
    from conftest import Live

NODES = {"server": "left", "client": "right", "idle": "far"}
# The same clock, by its estimate; a busy machine takes as long to answer.
SAME_NS = 500_000


def written(folder: Path, conditions: str = "") -> Path:
    """Write the experiment, and return its file."""
    path = folder / "live.yaml"
    path.write_text(experiment(NODES, conditions=conditions))
    return path


# A condition of everything that stands on one machine and acts on packets of another.
EVERYTHING = """
  - busy:
      interference: {between: [h0-h1], rate: {normal: {mean: 20Mbit/s, sd: 5Mbit/s}}, hold: 200ms, by: ghost}
      link: [{monitor: {what: [packet-size, queue-delay], window: 100ms}}]
      switch.egress: [{queue: {buffer: 32KiB}}]
      at: {600ms: {host.ingress: [{delay: {time: 2ms}}]}}
"""


def several(count: int) -> SeveralMachines:
    """Return `count` machines, of which the last has the zones that are left."""
    places = [
        MachineAt(name, LocalChild(f"agent on {name}"), "127.0.0.1")
        for name in (f"m{number}" for number in range(count))
    ]
    domains = [[zone] for zone in ZONES[: count - 1]] + [list(ZONES[count - 1 :])]
    return SeveralMachines(places, domains)


@pytest.fixture
def own_programs(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CROSSWIND_AGENT", "CROSSWIND_LOAD", "CROSSWIND_WORK_DIR"):
        monkeypatch.setenv(name, live.env[name])


@pytest.fixture
def measure(
    live: Live, own_programs: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[RunningTestbed], Path]]:
    """Return a function that runs the experiment on machines; it returns the run's folder."""

    def run(testbed: RunningTestbed, conditions: str = "", only: tuple[str, ...] = ()) -> Path:
        monkeypatch.setattr(runs, "testbed_of", lambda *_: testbed)
        path = written(live.folder, conditions)
        runs.run(
            selected(resolve(load_experiment(path)), only, once=False),
            path.read_text(),
            live.folder,
            live.results,
            Stream[Event](),
            report=lambda _: None,
        )
        return live.run_folder

    yield run
    live.await_no_process()


def medians(folder: Path) -> dict[str, float]:
    failed = rows(folder, "SELECT condition, reason FROM TRIALS WHERE status != 'done'")
    assert not failed
    select = (
        "SELECT condition, value FROM METRICS JOIN TRIALS USING (trial) "
        "WHERE metric = 'latency' AND statistic = 'p50'"
    )
    return dict(rows(folder, select))


@pytest.mark.parametrize("count", [3, pytest.param(2, marks=pytest.mark.long)])
def test_a_round_trip_between_machines_takes_as_long_as_on_one(
    measure: Callable[[RunningTestbed], Path], count: int
) -> None:
    alone = medians(measure(ThisMachine()))
    folder = measure(several(count))
    together = medians(folder)
    print(f"{count} machines: {together}, one: {alone}")
    for condition, added_ns in (("none", 0), ("slow", 4 * 5_000_000)):
        assert ROUND_TRIP_NS + added_ns <= together[condition]
        # What a host and the emulator add; a machine of two cores has as many emulators as agents.
        assert together[condition] - alone[condition] < 500_000
    for (trial,) in rows(folder, "SELECT trial FROM TRIALS"):
        stored = measured(folder, trial)
        check(stored, count)
        check_within(folder, trial, stored)
        [printed] = (folder / "logs" / trial / "server").glob("*.out")
        assert "listening" in printed.read_text()


def test_ghosts_monitors_queues_and_a_timeline_are_those_of_one_machine(
    measure: Callable[..., Path],
) -> None:
    found = []
    for testbed in (ThisMachine(), several(2)):
        folder = measure(testbed, EVERYTHING, ("busy",))
        ((trial, reason),) = rows(folder, "SELECT trial, reason FROM TRIALS")
        assert reason is None
        stored = measured(folder, trial)
        histograms = f"'{folder}/monitors/{trial}.histograms.parquet'"
        monitored = duckdb.sql(
            f"SELECT element, sum(count) FROM {histograms} WHERE what = 'packet-size' GROUP BY element"
        ).fetchall()
        interference = f"'{folder}/monitors/{trial}.interference.parquet'"
        draws = duckdb.sql(f"SELECT source, rate_bps FROM {interference} ORDER BY source, at_ns").fetchall()
        found.append((stored, dict(monitored), draws))
    (alone, seen, drawn), (together, seen_together, drawn_together) = found
    assert together.conservation.holds
    # The same draws of ghosts, at least as many as both windows have.
    by_source = [
        {name: [rate for source, rate in each if source == name] for name, _ in each}
        for each in (drawn, drawn_together)
    ]
    assert set(by_source[0]) == set(by_source[1])
    assert len(by_source[0]) == 2
    for source, rates in by_source[0].items():
        common = min(len(rates), len(by_source[1][source]))
        assert common >= 4
        assert rates[:common] == by_source[1][source][:common]
    # Every monitor is there once, and counts ghosts and packets of the application, those of the other too.
    assert set(seen_together) == set(seen)
    for element, packets in seen.items():
        assert abs(seen_together[element] - packets) <= 0.3 * packets + 100, element
    ghosts = {one.element: one.ghost.arrived_packets for one in together.elements}
    assert {one.element for one in alone.elements} == {one.element for one in together.elements}
    assert sum(count > 0 for count in ghosts.values()) >= 2
    (step,) = [change for change in together.changes if change.by == "timeline"]
    assert abs(step.at_ns - together.window.started_ns - 600_000_000) < 10_000_000


def check(stored: Measurement, count: int) -> None:
    assert stored.conservation.holds
    assert stored.conservation.entered.real > 100
    assert [machine.machine for machine in stored.machines] == [f"m{number}" for number in range(count)]
    started_ns = stored.window.started_ns
    for machine in stored.machines:
        assert abs(machine.started_ns - started_ns) < SAME_NS
        assert abs(machine.clock.there(started_ns) - started_ns) < SAME_NS
        for _, peer in machine.peers(stored.machines):
            assert peer.received_datagrams > 0
            assert peer.lost_datagrams == peer.duplicate_datagrams == peer.refused_records == 0
    assert {node.node for node in stored.nodes} == set(NODES)


@pytest.mark.usefixtures("own_programs")
def test_a_lost_agent_ends_the_wait_for_a_process_elsewhere_and_names_its_machine(live: Live) -> None:
    spec = fabric_of(resolve(load_experiment(written(live.folder))), "none")
    logs = live.folder / "logs"

    def lose(testbed: SeveralMachines, work: WorkFolder) -> None:
        with testbed.fabric(spec, work, logs) as fabric:
            assert testbed._machines is not None
            lost = testbed._machines.agents[1].pid
            sleep = fabric.start("server", "sleep", ["sleep", "60"], cwd=Path("/"))
            threading.Timer(0.5, os.kill, (lost, signal.SIGKILL)).start()
            sleep.wait(30)

    with WorkFolder() as work, several(2) as testbed:
        with pytest.raises(TestbedError, match=r"^agent on m1: ended while in use \(killed by signal 9\)"):
            lose(testbed, work)
        # The next fabric has new agents.
        with testbed.fabric(spec, work, logs) as fabric:
            assert set(fabric.nodes) == set(NODES)


@pytest.mark.usefixtures("own_programs")
def test_a_change_of_condition_and_steps_of_all_machines_are_at_one_instant(live: Live) -> None:
    resolved = resolve(load_experiment(written(live.folder)))
    spec, slow = fabric_of(resolved, "none"), fabric_of(resolved, "slow").condition
    found: list[Step] = []
    with (
        WorkFolder() as work,
        several(2) as testbed,
        testbed.fabric(spec, work, live.folder / "logs") as fabric,
    ):
        fabric.measure()
        fabric.watch(found.append)
        effective_ns = fabric.set(slow)
        fabric.start("client", "ping", ["ping", "-c", "3", "server"], cwd=Path("/")).wait(20)
        measurement = fabric.read()
    assert abs(measurement.changes[-1].at_ns - effective_ns) < SAME_NS
    changed = {step.domain: change.at_ns for step in found for change in step.changes if change.by == "set"}
    assert set(changed) == {0, 1}
    assert abs(changed[0] - changed[1]) < SAME_NS
    steps: list[set[int]] = [{step.at_ns for step in found if step.domain == domain} for domain in (0, 1)]
    assert len(steps[0] & steps[1]) >= len(steps[0]) - 2
    began = {step.window_started_ns for step in found}
    assert all(abs(at_ns - measurement.window.started_ns) < SAME_NS for at_ns in began)
