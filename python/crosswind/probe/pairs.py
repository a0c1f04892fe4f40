"""Two ways to connect ends: a fabric and a bare veth pair, with the same commands run at both."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from crosswind.app.load import await_listening
from crosswind.probe.bare import BarePair
from crosswind.results import Measurement
from crosswind.spec import FabricSpec
from crosswind.testbed import (
    Agent,
    Ended,
    Fabric,
    FabricFiles,
    Process,
    RunningFabric,
    TestbedError,
    WorkFolder,
)

END_S = 60.0

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """A receiver at the second end and a sender at the first; both run to their end.

    Both functions are given the folder that the commands share. The receiver prints a line when it listens,
    and then the sender starts.
    """

    receive: Callable[[Path], Sequence[str]]
    send: Callable[[Path], Sequence[str]]


def over_bare(
    task: Task, collect: Callable[[Path], T], prepare: Callable[[BarePair], None] = lambda _: None
) -> T:
    """Run a task over a bare veth pair and return what `collect` reads from its folder.

    Args:
        prepare: called with the pair before packets are sent, for example to add a queueing discipline.
    """
    with BarePair() as pair, WorkFolder() as work:
        prepare(pair)
        folder = work.path
        receiver = pair.start(1, task.receive(folder), stdout=subprocess.PIPE)
        assert receiver.stdout is not None
        receiver.stdout.readline()
        sender = pair.start(0, task.send(folder))
        for end in (sender, receiver):
            if end.wait(END_S) != 0:
                raise TestbedError(f"{' '.join(map(str, end.args))}: exit status {end.returncode}")  # type: ignore[arg-type]
        receiver.stdout.close()
        return collect(folder)


def over_fabric(
    task: Task, collect: Callable[[Path], T], spec: FabricSpec, record: Path | None = None
) -> tuple[T, Measurement]:
    """Run a task through the emulator; return what `collect` reads from its folder, and the measurement.

    The fabric's two nodes are the ends.

    Args:
        record: a new file for a recording of the emulator's decisions.
    """
    return onto_one([task], collect, spec, record)


def onto_one(
    tasks: Sequence[Task], collect: Callable[[Path], T], spec: FabricSpec, record: Path | None = None
) -> tuple[T, Measurement]:
    """Run tasks at once through the emulator, each from a node of its own to the fabric's last node.

    Args:
        record: a new file for a recording of the emulator's decisions.
    """
    *senders, receiver = (node.name for node in spec.nodes)
    with WorkFolder() as work, Agent() as agent:
        folder = work.path
        folder.chmod(0o777)  # The agent runs processes under an unprivileged account.
        with RunningFabric(agent, spec, folder / "logs", FabricFiles(record=record)) as fabric:
            fabric.measure()
            run_tasks(tasks, fabric, senders, receiver, folder)
            return collect(folder), fabric.read()


def run_tasks(
    tasks: Sequence[Task],
    fabric: Fabric,
    senders: Sequence[str],
    receiver: str,
    folder: Path,
) -> None:
    """Run tasks at once in a fabric that is up, each from a node of its own to the receiver."""
    receiving = [
        fabric.start(receiver, f"receive-{number}", task.receive(folder), cwd=folder)
        for number, task in enumerate(tasks, 1)
    ]
    for process in receiving:
        await_listening(process)
    sending = [
        fabric.start(sender, f"send-{number}", task.send(folder), cwd=folder)
        for number, (sender, task) in enumerate(zip(senders, tasks, strict=True), 1)
    ]
    for process in (*sending, *receiving):
        _finish(process)


def _finish(process: Process) -> None:
    ended = process.wait(END_S)
    if ended != Ended(0, None):
        how = f"still running after {END_S:g} s" if ended is None else str(ended)
        raise TestbedError(f"{process}: {how}; {process.last_words()}")
