"""Packets of UDP from the near end to the far one, and what the receiver wrote of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from crosswind.fingerprint.measure.ends import PACKETS_PORT, Ends, Running
from crosswind.probe.pairs import Task
from crosswind.testbed import TestbedError, WorkFolder

T = TypeVar("T")
# A receiver waits for stragglers, and writes its file.
_END_S = 60.0


class Interrupted(TestbedError):
    """An end stood still while packets were under way; what arrived says nothing of the network."""


def carried(
    ends: Ends, task: Task, file: str, sends_s: float, collect: Callable[[Path], T]
) -> tuple[T, Mapping[str, Any]]:
    """Run a task to its end; return what was collected, and what both ends printed of themselves.

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
            sent = ends.near.run([ends.near.load, *send[1:]], sends_s + _END_S)
            try:
                received = receiver.finish(_END_S)
            except TestbedError as error:
                raise TestbedError(
                    f"{error}; does a firewall between {ends.near.name} and {ends.far.name} drop UDP port "
                    f"{PACKETS_PORT}?"
                ) from None
        content = ends.far.read(f"{there}/{file}")
    with WorkFolder() as work:
        (work.path / file).write_bytes(content)
        return collect(work.path), _printed(sent) | _printed(received)


def _printed(said: bytes) -> dict[str, Any]:
    """Return what a program printed of itself in its last line, if it did."""
    last = said.decode(errors="replace").strip().rpartition("\n")[2]
    found: dict[str, Any] = json.loads(last) if last.startswith("{") else {}
    return found
