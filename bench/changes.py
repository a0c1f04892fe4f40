"""What a change of condition costs the packet thread with 100 nodes, and what it does to packets."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bench.engine import example, no_cargo
from bench.figures import Figure, figure, skipped
from crosswind.certify.pairs import run_task
from crosswind.certify.probe import probe_task
from crosswind.testbed import Agent, Fabric, WorkFolder
from crosswind.testbed.plain import plain_fabric

NODES = 100
CHANGES = 1_000
RATE_PER_S = 1_000
COUNT = 20_000
KINDS = ("one-delay", "every-delay", "shaped-or-not", "monitored-or-not")


def changes(rounds: int) -> Iterator[Figure]:
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
                planning_us=[row[kind]["planning_p50_ns"] / 1e3 for row in measured],
            )
    # In turns, so that what the machine does besides falls on both alike.
    turns = [(_ledger(CHANGES), _ledger(0)) for _ in range(rounds)]
    done = [number for (number, _), _ in turns]
    for p in ("p50", "p99", "p999", "max"):
        yield figure(
            f"late by the ledger, {p}, 1 kpps beside changes of {NODES} nodes",
            "us",
            [changed["error_ns"][p] / 1e3 for (_, changed), _ in turns],
            None,
            without_changes_us=[still["error_ns"][p] / 1e3 for _, (_, still) in turns],
            changes=done,
        )
    yield figure(
        f"packets beyond the bound, 1 kpps beside changes of {NODES} nodes",
        "packets",
        [float(changed["missed"]) for (_, changed), _ in turns],
        "0",
        without_changes=[still["missed"] for _, (_, still) in turns],
        changes=done,
    )


def _ledger(count: int) -> tuple[int, dict[str, Any]]:
    """Let packets cross while the condition changes so often; return how often it did, and the ledger."""
    delay = {"link": [{"delay": {"time_ns": 1_000_000}}]}
    spec = plain_fabric([f"n{number}" for number in range(NODES)], delay_ns=100_000, places=delay)
    with WorkFolder() as work, Agent() as agent:
        work.path.chmod(0o777)  # The agent runs processes under an unprivileged account.
        with Fabric(agent, spec, work.path / "logs") as fabric, ThreadPoolExecutor(1) as beside:
            fabric.measure()
            over = threading.Event()
            changed = beside.submit(_change, fabric, count, over)
            run_task(probe_task(RATE_PER_S, COUNT), fabric, ("n0", "n1"), work.path)
            over.set()
            return changed.result(), fabric.read()["ledger"]


def _change(fabric: Fabric, count: int, over: threading.Event) -> int:
    """Let all delays be 2 ms and 1 ms in turns until the packets have crossed; return how often."""
    for number in range(count):
        places = {"link": [{"delay": {"time_ns": 1_000_000 * (2 - number % 2)}}]}
        fabric.set({"name": f"{number}", "places": places})
        if over.wait(0.5 * COUNT / RATE_PER_S / count):
            return number + 1
    return count
