"""Packets of UDP from the near end to the far one, and what the receiver wrote of them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from crosswind.certify.pairs import Task
from crosswind.fingerprint.measure.ends import PACKETS_PORT, Ends, Running
from crosswind.testbed import TestbedError

T = TypeVar("T")
# A receiver waits for stragglers, and writes its file.
_END_S = 60.0


def carried(ends: Ends, task: Task, file: str, sends_s: float, collect: Callable[[Path], T]) -> T:
    """Run a task to its end.

    Args:
        task: with commands of `crosswind-load`, wherever that is at an end.
        file: what the receiver writes, in its folder.
        sends_s: how long the sender sends.
        collect: is given a folder with that file.
    """
    with ends.far.folder() as there:
        receive, send = task.receive(Path(there)), task.send(Path(there))
        with Running(ends.far, [ends.far.load, *receive[1:]]) as receiver:
            receiver.await_listening()
            ends.near.run([ends.near.load, *send[1:]], sends_s + _END_S)
            try:
                receiver.finish(_END_S)
            except TestbedError as error:
                raise TestbedError(
                    f"{error}; does a firewall between {ends.near.name} and {ends.far.name} drop UDP port "
                    f"{PACKETS_PORT}?"
                ) from None
        content = ends.far.read(f"{there}/{file}")
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / file).write_bytes(content)
        return collect(Path(name))
