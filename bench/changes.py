"""What a change of condition costs the packet thread with 100 nodes, and what it does to packets."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from bench.engine import example, no_cargo
from bench.figures import Figure, Skipped, figure, skipped
from crosswind.probe.pairs import run_tasks
from crosswind.probe.single_packets import probe_task
from crosswind.results.measurement import Ledger
from crosswind.spec import FabricCondition
from crosswind.testbed import Agent, RunningFabric, WorkFolder
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.plain import plain_fabric

NODES = 100
CHANGES = 1_000
RATE_PER_S = 1_000
COUNT = 20_000
# The changes are over when half of the packets have crossed.
PAUSE_S = 0.5 * COUNT / RATE_PER_S / CHANGES
KINDS = ("one-delay", "every-delay", "shaped-or-not", "monitored-or-not")


def changes(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the time of the packet thread by kind of change, and the packets that miss their deadline."""
    if reason := no_cargo():
        yield skipped("a change of condition", reason)
    else:
        measured = [row for _ in range(rounds) for row in example("crosswind-fabric", "changes")]
        for kind in KINDS:
            yield figure(
                f"a change of condition with {NODES} nodes, {kind}",
                "us",
                [row[kind]["p50_ns"] / 1e3 for row in measured],
                "at most 50",
                first_us=[row[kind]["first_ns"] / 1e3 for row in measured],
                making_32_us=[row[kind]["making_max_ns"] / 1e3 for row in measured],
                planning_us=[row[kind]["planning_p50_ns"] / 1e3 for row in measured],
            )
    # In turns, so that what the machine does besides falls on all alike.
    turns = [{work: _ledger(work) for work in WORK} for _ in range(rounds)]
    beside = {work: [turn[work] for turn in turns] for work in WORK}
    for p in ("p50", "p99", "p999", "max"):
        late_us = {work: [(ledger.error_ns[p] or 0) / 1e3 for ledger in beside[work]] for work in WORK}
        yield figure(
            f"late by the ledger, {p}, 1 kpps beside {CHANGES} changes of {NODES} nodes",
            "us",
            late_us["changes"],
            None,
            beside_refused_changes_us=late_us["refused"],
            beside_nothing_us=late_us["nothing"],
        )
    missed = {work: [float(ledger.missed) for ledger in beside[work]] for work in WORK}
    yield figure(
        f"packets beyond the bound, 1 kpps beside {CHANGES} changes of {NODES} nodes",
        "packets",
        missed["changes"],
        "no more than beside refused changes",
        beside_refused_changes=missed["refused"],
        beside_nothing=missed["nothing"],
    )


def _ledger(work: str) -> Ledger:
    """Let packets cross beside work of this kind, and return the ledger."""
    delay = {"link": [{"delay": {"time_ns": 1_000_000}}]}
    spec = plain_fabric([f"n{number}" for number in range(NODES)], delay_ns=100_000, places=delay)
    with WorkFolder() as folder, Agent() as agent:
        folder.path.chmod(0o777)  # The agent runs processes under an unprivileged account.
        with RunningFabric(agent, spec, folder.path / "logs") as fabric, ThreadPoolExecutor(1) as beside:
            fabric.measure()
            done = beside.submit(WORK[work], fabric)
            run_tasks([probe_task(RATE_PER_S, COUNT)], fabric, ["n0"], "n1", folder.path)
            done.result()
            return fabric.read().ledger


def _change(fabric: RunningFabric) -> None:
    """Let all delays be 2 ms and 1 ms in turns."""
    for number in range(CHANGES):
        places = {"link": [{"delay": {"time_ns": 1_000_000 * (2 - number % 2)}}]}
        fabric.set(FabricCondition.model_validate({"name": f"{number}", "places": places}))
        time.sleep(PAUSE_S)


def _ask_in_vain(fabric: RunningFabric) -> None:
    """Send twice as many, refused before the packet thread hears of them: each takes half the time."""
    for number in range(2 * CHANGES):
        places = {
            "link": [{"delay": {"time_ns": 1_000_000 * (2 - number % 2)}}],
            "host.egress": [{"delay": {"time_ns": -1}}],
        }
        try:
            fabric.set(FabricCondition.model_validate({"name": f"{number}", "places": places}))
        except TestbedError:
            time.sleep(PAUSE_S / 2)
        else:
            raise AssertionError("a delay below zero was accepted")


def _nothing(_: RunningFabric) -> None:
    pass


# By name: what the controlling program and the agent do while packets cross.
WORK: dict[str, Callable[[RunningFabric], None]] = {
    "changes": _change,
    "refused": _ask_in_vain,
    "nothing": _nothing,
}
