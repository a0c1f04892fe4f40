"""The control connection between `traffic` on one machine and a `traffic-serve` on another.

Control must not cross the network under test, and the file system is not shared. So on each of the two
machines a `crosswind-load relay` is an end of the connection, and what one prints is carried to the other as
files.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from crosswind.app.base import Stage
from crosswind.app.load import await_listening
from crosswind.results.measurement import ClockLine
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process
from crosswind.testbed.folders import give
from crosswind.testbed.read_file import FILE_BYTES_MAX

NS_PER_S = 1_000_000_000
# Nothing is carried in the measured phase: a look then costs the agents a request each.
LOOK_S = 0.01
IDLE_LOOK_S = 0.25
# What the listening end prints first.
_LISTENING = b"listening\n"


class Relay:
    """A relay that runs until `end`.

    Args:
        near: the node of `traffic`.
        far: the node of the `traffic-serve`, which has its socket open.
    """

    def __init__(self, stage: Stage, near: str, far: str) -> None:
        ends = {near: "--listen", far: "--connect"}
        # A folder with the name of a node goes to its machine alone.
        folders = {node: stage.folder / node / f"heard-{far}" for node in ends}
        processes = {}
        for node, way in ends.items():
            for folder in (stage.folder / node, folders[node]):
                folder.mkdir(exist_ok=True)
                give(folder, *stage.fabric.application_account)
            command = [find_binary(LOAD), "relay", way, f"{far}.sock", "--from", folders[node]]
            processes[node] = stage.fabric.start(
                node, f"relay-{far}", command, cwd=stage.folder, whole_output=True
            )
        await_listening(processes[near])
        self._fabric = stage.fabric
        self._processes = [processes[near], processes[far]]
        self._ways = [
            Way(processes[near], len(_LISTENING), processes[far], folders[far]),
            Way(processes[far], 0, processes[near], folders[near]),
        ]
        self._failure: TestbedError | OSError | None = None
        self._over = threading.Event()
        self._carrier = threading.Thread(target=self._carry, daemon=True, name=f"relay-{far}")
        self._carrier.start()

    def end(self) -> None:
        """End it; the connection is closed at both ends."""
        self._over.set()
        self._carrier.join()
        self._fabric.stop(self._processes, 0)

    def check(self) -> None:
        """Raise TestbedError if it failed."""
        if self._failure is not None:
            raise TestbedError(f"{self._processes[0]}: {self._failure}") from self._failure

    def _carry(self) -> None:
        wait_s = LOOK_S
        try:
            while not self._over.wait(wait_s) and not all(way.is_over for way in self._ways):
                carried = [way.carry() for way in self._ways]
                wait_s = LOOK_S if any(carried) else min(wait_s * 1.1, IDLE_LOOK_S)
        except (TestbedError, OSError) as failure:
            self._failure = failure
            # `traffic` and `traffic-serve` learn of it.
            with suppress(TestbedError):
                self._fabric.stop(self._processes, 0)


class Way:
    """What one process prints is carried to the other."""

    def __init__(self, source: Process, offset: int, to: Process, folder: Path) -> None:
        self.is_over = False
        self._source = source
        self._offset = offset
        self._to = to
        self._folder = folder
        self._number = 0

    def carry(self) -> bool:
        """Carry what is new, and return whether there was any."""
        # Before the look: what has ended prints nothing more.
        has_ended = self._source.ended is not None
        piece = self._source.printed_from(self._offset)
        if self.is_over or not (piece or has_ended):
            return False
        # The other machine may lie about what it has to say.
        if self._offset + len(piece) > FILE_BYTES_MAX:
            raise TestbedError(f"{self._source}: printed more than {FILE_BYTES_MAX} bytes")
        # An empty file is the end.
        self.is_over = not piece
        # Whole when it is in the folder, from which other threads send as well.
        part = self._folder.parents[1].with_name(f"{self._folder.name}-{self._to.node}.part")
        part.write_bytes(piece)
        part.rename(self._folder / str(self._number))
        self._to.update_files()
        self._offset += len(piece)
        self._number += 1
        return True


def clock_line(own: ClockLine, other: ClockLine, now_ns: int) -> str:
    """Return another machine's clock over the own one, as `traffic --clock` takes it.

    Args:
        own, other: the clocks of both against a third one, which shows `now_ns`.
    """
    later_ns = now_ns + 1000 * NS_PER_S
    here_ns, there_ns = own.there(now_ns), other.there(now_ns)
    over_ns = own.there(later_ns) - here_ns
    gained_ns = other.there(later_ns) - there_ns - over_ns
    return f"{here_ns},{there_ns},{gained_ns},{over_ns}"
