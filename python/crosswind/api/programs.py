"""Programs in the nodes of a network that is up: they end with it, and are started again after a kill."""

from __future__ import annotations

import contextlib
import os
import select
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crosswind.errors import CrosswindError
from crosswind.testbed.binaries import AGENT
from crosswind.testbed.enter import words_to_enter

# A killed program leaves its ports within milliseconds; one whose parent is stopped (Ctrl-Z) seems to run on.
_GONE_S = 2.0
_PROC = Path("/proc")
# Of /proc/PID/stat, counted behind the name of the program.
_START_TIME = 19
_STDERR = 2


@dataclass(frozen=True)
class Program:
    """A command that runs in a node, and what it needs to be started again.

    Attributes:
        pid: of the process outside the node that started it and waits for its end.
        stdout, stderr: descriptors of where its outputs go; None for a pipe, whose reader may be gone.
    """

    pid: int
    words: tuple[bytes, ...]
    folder: Path
    environment: dict[bytes, bytes]
    stdout: int | None
    stderr: int | None

    def started_in(self, init: int) -> subprocess.Popen[str]:
        """Start it in the node whose init is `init`; what went to a pipe goes to standard error."""
        return subprocess.Popen(
            [*words_to_enter(init), *self.words],
            stdin=subprocess.DEVNULL,
            stdout=_STDERR if self.stdout is None else self.stdout,
            stderr=_STDERR if self.stderr is None else self.stderr,
            text=True,
            errors="replace",
            cwd=self.folder,
            env=self.environment,
        )

    def close(self) -> None:
        """Close its outputs."""
        for output in (self.stdout, self.stderr):
            if output is not None:
                os.close(output)


class Programs:
    """What runs in the nodes of a network."""

    def __init__(self) -> None:
        self._started: list[tuple[str, subprocess.Popen[str]]] = []
        self._ran: dict[str, list[Program]] = {}

    def add(self, node: str, process: subprocess.Popen[str]) -> None:
        """Take a program that was started, so that it ends with the network."""
        self._started.append((node, process))

    def statuses(self, node: str) -> list[int | None]:
        """Return the exit status of each program that was started on a node; None for one that runs."""
        return [process.poll() for on, process in self._started if on == node]

    def remember(self, node: str, init: int) -> bool:
        """Note what runs in a node before a kill; return whether anything does, or did at the last one."""
        if running := sorted(_running(init), key=lambda found: found[0]):
            self._forget(node)
            self._ran[node] = [program for _, program in running]
        return node in self._ran

    def start_again(self, node: str, init: int) -> None:
        """Start what was noted last, in the order in which it had been started.

        Raises: CrosswindError: one cannot be started, such as in a folder that is gone.
        """
        _await_gone(self._ran[node])
        for program in self._ran[node]:
            try:
                self.add(node, program.started_in(init))
            except OSError as error:
                raise CrosswindError(
                    f"{node} was killed, and {os.fsdecode(program.words[0])} was not started again: {error}; "
                    f"start it: crosswind exec {node} -- CMD"
                ) from error
        self._forget(node)

    def end(self, grace_s: float) -> None:
        """End what still runs: with SIGTERM, and after a grace of real time with SIGKILL."""
        for node in [*self._ran]:
            self._forget(node)
        running = [process for _, process in self._started if process.poll() is None]
        self._started = []
        for process in running:
            process.terminate()
        deadline = time.monotonic() + grace_s
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - time.monotonic()))
        for process in running:
            process.kill()
            process.wait()

    def _forget(self, node: str) -> None:
        for program in self._ran.pop(node, ()):
            program.close()


def _running(init: int) -> Iterator[tuple[int, Program]]:
    """Yield when each command of a node was started, and the command: `enter` waits for it outside the node.

    So nobody has to say what they start: `crosswind exec`, `exec` and `popen` leave the same process.
    """
    here = (_PROC / "self/ns/pid").readlink()
    for folder in _PROC.iterdir():
        # Processes come and go meanwhile, and some belong to others.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            if not folder.name.isdigit() or folder.stat().st_uid != os.geteuid():
                continue
            program, *words = (folder / "cmdline").read_bytes().split(b"\0")[:-1] or [b""]
            if not program.endswith(b"/" + AGENT.encode()) or words[:3] != [b"enter", b"%d" % init, b"--"]:
                continue
            # Its child has the same words until it executes the command.
            if (folder / "ns/pid").readlink() == here:
                yield _started_at(folder), _program(folder, tuple(words[3:]))


def _started_at(folder: Path) -> int:
    return int((folder / "stat").read_text().rpartition(")")[2].split()[_START_TIME])


def _program(folder: Path, words: tuple[bytes, ...]) -> Program:
    entries = (folder / "environ").read_bytes().split(b"\0")[:-1]
    environment = dict(entry.partition(b"=")[::2] for entry in entries)
    stdout, stderr = (_opened(folder / f"fd/{number}") for number in (1, 2))
    return Program(int(folder.name), words, (folder / "cwd").readlink(), environment, stdout, stderr)


def _opened(output: Path) -> int | None:
    """Open where an output goes once more, to add to it: a file or a terminal."""
    mode = output.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        return None
    with contextlib.suppress(OSError):
        return os.open(output, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC)
    return None


def _await_gone(programs: Iterable[Program]) -> None:
    """Wait until programs that were killed have ended, so that their ports are free."""
    deadline = time.monotonic() + _GONE_S
    for program in programs:
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(program.pid)
            try:
                ended = select.poll()
                ended.register(handle, select.POLLIN)
                ended.poll(max(0.0, deadline - time.monotonic()) * 1e3)
            finally:
                os.close(handle)
