"""Send UDP packets from the near end to the far one, and return what the receiver recorded."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from crosswind.fingerprint.measure.ends import PACKETS_PORT, Ends, Running
from crosswind.probe.pairs import Task
from crosswind.testbed import TestbedError, WorkFolder

T = TypeVar("T")
# For the sender to end on a busy machine.
_END_S = 60.0
# For the receiver to wait for late packets, and to write its file.
_LATE_S = 20.0


class EndStalled(TestbedError):
    """An end stalled while packets were under way, so the result says nothing about the network."""


class EndsReport(BaseModel):
    """What both programs report of themselves (docs/reference/contracts.md, section 4).

    Attributes:
        latest_ns: how late the sender's latest call was.
        lasted_ns: from the sender's start to its last call.
        overflowed: packets that the receiver's own buffer had no room for.
    """

    model_config = ConfigDict(frozen=True)

    latest_ns: int
    lasted_ns: int = 0
    overflowed: int = 0


def carried(
    ends: Ends, task: Task, file: str, sends_s: float, collect: Callable[[Path], T]
) -> tuple[T, EndsReport]:
    """Run a task to its end; return what was collected, and what both programs reported.

    Args:
        task: commands of `crosswind-load`; its path at each end replaces theirs.
        file: that the receiver writes, in its folder.
        sends_s: how long the sender sends.
        collect: is called with a folder that has this file.
    """
    with ends.far.folder() as there:
        receive, send = task.receive(Path(there)), task.send(Path(there))
        with Running(ends.far, [ends.far.load, *receive[1:]]) as receiver:
            receiver.await_listening()
            sent = ends.near.run([ends.near.load, *send[1:]], sends_s + _END_S)
            try:
                received = receiver.finish(_LATE_S)
            except TestbedError as error:
                raise TestbedError(
                    f"{error}; does a firewall between {ends.near.name} and {ends.far.name} drop UDP port "
                    f"{PACKETS_PORT}?"
                ) from None
        content = ends.far.read(f"{there}/{file}")
    with WorkFolder() as work:
        (work.path / file).write_bytes(content)
        return collect(work.path), EndsReport.model_validate(_printed(sent) | _printed(received))


def _printed(output: bytes) -> dict[str, JsonValue]:
    """Return the JSON object in the last line of a program's output; empty where there is none."""
    last = output.decode(errors="replace").strip().rpartition("\n")[2]
    found: dict[str, JsonValue] = json.loads(last) if last.startswith("{") else {}
    return found
