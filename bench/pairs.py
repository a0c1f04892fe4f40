"""Two ways to connect two ends: a fabric and a bare veth pair, with the same commands run at both."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bare import BarePair
from crosswind.testbed import Agent, Fabric

END_S = 60.0


@dataclass(frozen=True)
class Task:
    """A receiver at the second end and a sender at the first; both run to their end."""

    receive: Callable[[Path], Sequence[str]]
    send: Callable[[Path], Sequence[str]]


def fabric_spec(*, rate_bps: int | None = None, delay_ns: int = 0, hosts: int = 2) -> dict[str, Any]:
    """Return a fabric of `hosts` hosts with one node each and no condition."""
    return {
        "seed": 1,
        "hosts": [f"h{i}" for i in range(hosts)],
        "nodes": [{"name": f"n{i}", "host": f"h{i}"} for i in range(hosts)],
        "uplink": {"rate_bps": rate_bps, "delay_ns": delay_ns, "buffer_bytes": None},
        "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000},
        "merge_window_ns": 20_000,
        "condition": {"name": "none"},
    }


def over_bare(task: Task, collect: Callable[[Path], float]) -> float:
    """Run a task over a bare veth pair and return what `collect` makes of its folder."""
    with BarePair() as pair, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        receiver = pair.start(1, task.receive(folder))
        sender = pair.start(0, task.send(folder))
        sender.wait(END_S)
        receiver.wait(END_S)
        return collect(folder)


def over_fabric(
    task: Task, collect: Callable[[Path], float], spec: dict[str, Any]
) -> tuple[float, dict[str, Any]]:
    """Run a task through the emulator; return what `collect` makes of its folder, and the measurement."""
    with Agent() as agent, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)  # The agent runs processes under an unprivileged account.
        with Fabric(agent, spec, folder / "logs") as fabric:
            fabric.measure()
            receiver = fabric.start("n1", "receive", task.receive(folder), cwd=folder)
            sender = fabric.start("n0", "send", task.send(folder), cwd=folder)
            sender.wait(END_S)
            receiver.wait(END_S)
            return collect(folder), fabric.read()
