"""A bare veth pair between two anonymous network namespaces: the baseline for the emulator."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import Self

ADDRESSES = ("10.77.0.1", "10.77.0.2")


class BarePair:
    """Two namespaces and a veth pair between them, removed when the block ends.

    The pair has the addresses, routes and TCP settings of a fabric's first two nodes.
    """

    def __enter__(self) -> Self:
        self._holders = [
            subprocess.Popen(
                ["unshare", "--net", "sh", "-c", "echo up; exec cat"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _ in ADDRESSES
        ]
        for holder in self._holders:
            assert holder.stdout is not None
            holder.stdout.readline()
        self.run(
            0,
            ["ip", "link", "add", "eth0", "type", "veth", "peer", "eth0", "netns", str(self._holders[1].pid)],
        )
        for end, address in enumerate(ADDRESSES):
            self.run(end, ["ip", "address", "add", f"{address}/16", "dev", "eth0"])
            self.run(end, ["ip", "link", "set", "lo", "up"])
            self.run(end, ["ip", "link", "set", "eth0", "up"])
            route = ["10.77.0.0/16", "dev", "eth0", "src", address, "congctl", "cubic"]
            self.run(end, ["ip", "route", "replace", *route])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for holder in self._holders:
            holder.communicate()

    @property
    def pids(self) -> list[int]:
        """A process in the network namespace of each end."""
        return [holder.pid for holder in self._holders]

    def start(
        self, end: int, argv: Sequence[str], stdout: int = subprocess.DEVNULL
    ) -> "subprocess.Popen[bytes]":
        """Start a command at one end (0 or 1)."""
        return subprocess.Popen(self._enter(end, argv), stdout=stdout)

    def run(self, end: int, argv: Sequence[str]) -> None:
        """Run a command at one end to its end.

        Raises: subprocess.CalledProcessError: it failed.
        """
        subprocess.run(self._enter(end, argv), check=True)

    def _enter(self, end: int, argv: Sequence[str]) -> list[str]:
        return ["nsenter", f"--net=/proc/{self._holders[end].pid}/ns/net", *argv]


def bare_impossible() -> str | None:
    """Return why no bare pair can be made here, or None if one can."""
    if os.geteuid() != 0:
        return "a bare veth pair needs root: it is made with unshare and nsenter"
    missing = [program for program in ("unshare", "nsenter", "ip") if shutil.which(program) is None]
    if missing:
        return f"a bare veth pair needs {' and '.join(missing)}; install util-linux and iproute2"
    return None
