"""The two ends of a measured network: any place where a prefix can run a command.

A node of a fabric is reached with `crosswind-agent enter PID --` or `crosswind exec NODE --`, another machine
with `ssh HOST`. Some of these pass words on unchanged, and some pass them through another shell. So each only
starts a `sh`, which reads its script from standard input. The program ends when that input ends, so a broken
connection leaves nothing running at the far end.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, Self

from crosswind.app.requirements import DebianPackages
from crosswind.testbed import TestbedError

Tool = Literal["traffic", "iperf3", "nuttcp"]
# TCP for bulk and messages, UDP for packets. A firewall between two machines has to allow them.
BULK_PORT, MESSAGES_PORT, PACKETS_PORT = 7078, 7079, 7080
# For connecting to another machine and starting a program there.
READY_S = 20.0
GRACE_S = 5.0
_SHORT_S = 30.0
# A folder that exists as long as this program, which ends with its input.
_FOLDER = """\
trap 'kill $!; rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }; exit 0' TERM
folder=$(mktemp -d -t crosswind-XXXXXX) || exit
sleep 2147483647 & echo "$folder"; wait
"""
# The program ends with the input, and the shell ends with the program and its status.
_SCRIPT = """\
exec 3<&0
{command} </dev/null 3<&- & program=$!
{{ cat <&3; kill $program; }} >/dev/null 2>&1 & watch=$!
wait $program; status=$?; kill $watch 2>/dev/null; exit $status
"""


@dataclass(frozen=True)
class End:
    """A place where commands run.

    Attributes:
        prefix: the words before a command.
        address: where the other end reaches it.
        load: path of `crosswind-load` there.
        python: path of a Python there, which reads its facts.
        iperf3, nuttcp: words that start them there.
        host: identifies its host, emulated or real; None where it is unknown.
        work: a folder of this machine for its files; None where it uses its own temporary folder.
    """

    name: str
    prefix: tuple[str, ...]
    address: str
    load: str
    python: str
    iperf3: tuple[str, ...]
    nuttcp: tuple[str, ...]
    host: str | None
    work: Path | None = None

    def at(self, port: int) -> str:
        """Return the address with a port."""
        return f"[{self.address}]:{port}" if ":" in self.address else f"{self.address}:{port}"

    def run(self, command: Sequence[object], within_s: float = _SHORT_S) -> bytes:
        """Run a command to its end and return what it printed.

        Raises: TestbedError: it failed, or still ran after `within_s`.
        """
        with Running(self, command) as running:
            return running.finish(within_s)

    def ask(self, script: str, *arguments: str) -> bytes:
        """Run a Python script that needs only Python, and return what it printed.

        Raises: TestbedError: it failed, or there is no Python.
        """
        command = [*self.prefix, self.python, "-", *arguments]
        try:
            done = subprocess.run(
                command, input=script.encode(), capture_output=True, timeout=_SHORT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TestbedError(f"{self.name}: {shlex.join(command)}: {error}") from None
        if done.returncode != 0:
            words = " | ".join(done.stderr.decode(errors="replace").strip().splitlines()[-3:])
            raise TestbedError(
                f"{self.name}: {shlex.join(command)}: exit status {done.returncode}; {words or 'no word'}"
            )
        return done.stdout

    @contextmanager
    def folder(self) -> Iterator[str]:
        """Provide a folder there, which is removed afterwards.

        If this process is killed, the folder at another machine is removed when its input ends. One in `work`
        is left to `cleanup`, since the nodes of a fabric are killed too.

        Raises: TestbedError: it cannot be made.
        """
        if self.work is not None:
            with tempfile.TemporaryDirectory(dir=self.work) as made:
                yield made
            return
        with Running(self, ["sh", "-c", _FOLDER]) as holder:
            yield holder.first_line()

    def read(self, file: str) -> bytes:
        """Return the content of a file there."""
        return self.run(["cat", file], 2 * _SHORT_S)


class Running:
    """A program at an end; leaving the block ends it."""

    def __init__(self, end: End, command: Sequence[object]) -> None:
        self._words = [str(word) for word in command]
        self._end = end

    def __enter__(self) -> Self:
        # Unlike pipes, files hold any amount of output.
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [*self._end.prefix, "sh"], stdin=subprocess.PIPE, stdout=self._out, stderr=self._err
            )
        except OSError as error:
            raise TestbedError(
                f"{self._end.name}: {shlex.join(self._end.prefix)}: {error.strerror}"
            ) from None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # It has ended; `finish` reports how.
            self._process.stdin.write(_SCRIPT.format(command=shlex.join(self._words)).encode())
            self._process.stdin.flush()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._out.close()
        self._err.close()

    def await_listening(self) -> None:
        """Wait until it prints that it listens.

        Raises: TestbedError: it ended, or did not print it within `READY_S`.
        """
        deadline_s = time.monotonic() + READY_S
        while b"listening" not in _content(self._out):
            if self._process.poll() is not None or time.monotonic() > deadline_s:
                raise TestbedError(f"{self}: not listening after {READY_S:g} s at most; {self._how()}")
            time.sleep(0.005)

    def first_line(self) -> str:
        """Wait for the first line that it prints, and return it.

        Raises: TestbedError: it ended without one, or printed none within `READY_S`.
        """
        deadline_s = time.monotonic() + READY_S
        while b"\n" not in (said := _content(self._out)):
            if self._process.poll() is not None or time.monotonic() > deadline_s:
                raise TestbedError(f"{self}: printed nothing within {READY_S:g} s; {self._how()}")
            time.sleep(0.005)
        return said.partition(b"\n")[0].decode()

    def said(self, offset: int = 0) -> bytes:
        """Return its output so far, from an offset on."""
        return _content(self._out, offset)

    def has_ended(self, within_s: float = 0.0) -> bool:
        """Wait for its end for at most `within_s`, and return whether it has ended."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def finish(self, within_s: float) -> bytes:
        """Wait for its end and return its output.

        Raises: TestbedError: it failed, or still runs after `within_s`.
        """
        try:
            status = self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise TestbedError(
                f"{self}: still running after {within_s:g} s; does the other end still answer? {self._how()}"
            ) from None
        if status != 0:
            raise TestbedError(f"{self}: {self._how()}")
        return _content(self._out)

    def __str__(self) -> str:
        words = " ".join([Path(self._words[0]).name, *self._words[1:2]])
        return f"{words} at {self._end.name}"

    def _how(self) -> str:
        status = self._process.poll()
        said = (_content(self._err).strip() or _content(self._out).strip()).decode(errors="replace")
        words = " | ".join(said.splitlines()[-3:]) or "it wrote nothing"
        return words if status is None else f"exit status {status}; {words}"


@dataclass(frozen=True)
class Ends:
    """Two ends; the near one sends.

    Attributes:
        one_machine: whether both share this machine's clock and files.
        tool: makes bulk transfers; `traffic` needs both ends on one machine.
        ours: whether the network was made for one measurement, so that the next one gets a new one.
    """

    near: End
    far: End
    one_machine: bool
    tool: Tool
    ours: bool


# Opens the network for one measurement. Crosswind's own is made anew, so that no bucket keeps its level.
Network = Callable[[], AbstractContextManager[Ends]]


def words_here(tool: DebianPackages, name: str) -> tuple[str, ...]:
    """Return words that start a program of this machine: Crosswind's own, or else the one on PATH."""
    if tool.missing():
        return (name,)
    program = tool.program(name)
    return ("env", *(f"{name}={value}" for name, value in program.env.items()), str(program.path))


def _content(file: IO[bytes], offset: int = 0) -> bytes:
    # The program shares the file offset, which must not move.
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, offset)
