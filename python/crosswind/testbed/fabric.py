"""A fabric that is up: its nodes, the processes in them, its condition, its measurement window."""

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from crosswind.results import Measurement
from crosswind.results.measurement import ClockLine
from crosswind.spec import FabricCondition
from crosswind.spec.resolved import (
    REAL_TIME,
    PerceivedTime,
    RequestedLimits,
    ResolvedClock,
    ResolvedCut,
    ResolvedDisk,
)
from crosswind.stream import Step
from crosswind.testbed.agent import Agent, Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.files import MachineFiles
from crosswind.testbed.folders import WorkFolder
from crosswind.testbed.outputs import HEAD_BYTES, Printed, last_words, printed
from crosswind.testbed.read_file import ReadFile
from crosswind.testbed.replies import Down, Listener, Node, Reply, Stopped, WallClock

# With what the kernel needs to end the rest, a stop takes less than five seconds.
GRACE_S = 4.0
# Short against the start of any server, long against the cost of one probe (a few ms).
PROBE_INTERVAL_S = 0.02
# How soon the loss of another machine ends the wait for a process.
CHECK_S = 0.25
# A process that ignores SIGTERM gets no more real time than this, however slow its time is.
LONGEST_GRACE_S = 60.0


# What happens to every process of a node.
Strike = Literal["pause", "resume", "kill"]


def grace_of(perceived: PerceivedTime, grace_s: float) -> float:
    """Return the real time that a process gets for its end, in s."""
    return min(perceived.real_s(grace_s), max(grace_s, LONGEST_GRACE_S))


class Process:
    """A process of the application in a node.

    All times are perceived ones: where time in the nodes is ten times slower, a wait of 1 s takes ten.

    Args:
        check: raises an error when the rest of the network is gone; called now and then while it is waited
            for, where several machines carry the network.

    Attributes:
        time: how it perceives time.
        started_ns: just before it was started, in ns of CLOCK_MONOTONIC.
        stdout, stderr: where its outputs are stored. Those of another machine come here at the end.
        struck_down: its node was killed while it ran, so its end says nothing against it.
    """

    struck_down = False

    def __init__(
        self,
        agent: Agent,
        number: int,
        node: str,
        name: str,
        stdout: Path,
        stderr: Path,
        files: MachineFiles,
        outputs: tuple[ReadFile, ReadFile],
        perceived: PerceivedTime,
        started_ns: int,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._agent = agent
        self.number = number
        self.node = node
        self.name = name
        self.stdout = stdout
        self.stderr = stderr
        self._files = files
        self._outputs = outputs
        self.time = perceived
        self.started_ns = started_ns
        self._check = check

    def __str__(self) -> str:
        return f"{self.name} on {self.node}"

    @property
    def ended(self) -> Ended | None:
        """How it ended, or None while it runs."""
        return self._perceived(self._agent.exit_of(self.number))

    def now_s(self) -> float:
        """Return the present as it perceives it, in s of CLOCK_MONOTONIC."""
        return self.time.perceived_ns(time.monotonic_ns()) / 1e9

    def wait(self, timeout_s: float) -> Ended | None:
        """Wait for its end; return None when it still runs after `timeout_s`."""
        real_s = self.time.real_s(timeout_s)
        if self._check is None:
            return self._perceived(self._agent.wait_exit(self.number, real_s))
        deadline = time.monotonic() + real_s
        while True:
            left_s = max(0.0, deadline - time.monotonic())
            ended = self._agent.wait_exit(self.number, min(left_s, CHECK_S))
            if ended is not None or left_s <= CHECK_S:
                return self._perceived(ended)
            self._check()

    def stop(self, grace_s: float = GRACE_S) -> Ended:
        """End its process group: SIGTERM, and SIGKILL after `grace_s`."""
        real_s = grace_of(self.time, grace_s)
        ended = self._agent.request(
            "stop",
            Stopped,
            {"process": self.number, "grace_ns": round(real_s * 1e9)},
            timeout_s=real_s + 30,
        )
        return Ended(ended.code, ended.signal)

    def _perceived(self, ended: Ended | None) -> Ended | None:
        if ended is None or ended.at_ns is None:
            return ended
        return replace(ended, at_ns=self.time.perceived_ns(ended.at_ns))

    def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        self._agent.request("signal", Reply, {"process": self.number, "signal": number})

    def printed(self) -> str:
        """Return its standard output; a long one is head and tail, with a line between that says so."""
        return self.output().text

    def output(self) -> Printed:
        """Return its standard output, and how much of it was left out."""
        return printed(self._outputs[0])

    def whole_output(self) -> Path:
        """Return the file of its standard output, all of which was stored, after copying it here."""
        self._files.bring_output(self.stdout)
        return self.stdout

    def printed_from(self, offset: int) -> bytes:
        """Return what its standard output has from this byte on, 16 MiB at most.

        Its output must be stored whole.
        """
        return self._outputs[0].read(offset, HEAD_BYTES)

    def complained(self) -> str:
        """Return its standard error, in the same way."""
        return printed(self._outputs[1]).text

    def wall_ahead_ns(self) -> int:
        """Return how far the wall clock of its machine is ahead of CLOCK_MONOTONIC there, in ns."""
        clock = self._agent.request("wall", WallClock)
        return clock.wall_ns - clock.now_ns

    def update_files(self) -> None:
        """Copy to its machine what is new here in the folder of the trial."""
        self._files.send()

    def wrote(self, path: Path) -> Path:
        """Return a file that it has written, after copying it here from another machine.

        Raises: FileNotFoundError: there is no such file.
        """
        self._files.bring(path)
        return path

    def last_words(self) -> str:
        """Return the last lines of its standard error, or else of its output, for an error message."""
        for log in reversed(self._outputs):
            try:
                words = last_words(log)
            except OSError:
                return "its log cannot be read"
            if words:
                return words
        return "it wrote nothing"


@dataclass(frozen=True)
class Bind:
    """A file or folder that a process also sees at `to`, a path in its root; both as the node sees them."""

    source: Path
    to: Path
    read_only: bool


@dataclass(frozen=True)
class Root:
    """A root file system for a process, and what else is visible in it (contracts.md, section 2)."""

    folder: Path
    binds: tuple[Bind, ...]
    hostname: str | None = None  # The node's when absent.

    def as_request(self) -> dict[str, object]:
        """Return the value of `root` in a request to start a process."""
        binds = [
            {"from": str(bind.source), "to": str(bind.to), "read_only": bind.read_only} for bind in self.binds
        ]
        named = {} if self.hostname is None else {"hostname": self.hostname}
        return {"folder": str(self.folder), "binds": binds, **named}


@dataclass(frozen=True)
class FabricFiles:
    """FabricFiles that the agent writes while a fabric is up; neither may exist before.

    Attributes:
        record: a recording of everything that the engine does, for `crosswind simulate`.
        capture: a pcapng file of what entered, left and was dropped.
        snap_bytes: stored of every captured frame.
        limit_bytes: the capture ends at this size.
    """

    record: Path | None = None
    capture: Path | None = None
    snap_bytes: int = 128
    limit_bytes: int = 1 << 30

    def as_request(self) -> dict[str, object]:
        """Return the keys of `up` (contracts.md, section 2)."""
        request: dict[str, object] = {}
        if self.record is not None:
            request["record"] = str(self.record.absolute())
        if self.capture is not None:
            request["capture"] = {
                "to": str(self.capture.absolute()),
                "snap_bytes": self.snap_bytes,
                "limit_bytes": self.limit_bytes,
            }
        return request


class Fabric(ABC):
    """Nodes and network of one trial that are up, on one machine or several.

    Attributes:
        nodes: by name, in the order of the fabric.
        time: how nodes, emulator and measurement perceive time; all instants are perceived ones.
        wait_mode: `spin` or `sleep`: what the emulator does between packets.
        domains: how many threads, or machines, carry the network.
        written: the files that were written while it was up; after its end.
        measure_takes_s: from a call of `measure` until the window begins.
    """

    measure_takes_s = 0.0

    def __init__(self) -> None:
        self.written = Down()
        self.time = REAL_TIME
        self.nodes: dict[str, Node] = {}
        self.wait_mode = ""
        self.domains = 0

    @property
    @abstractmethod
    def application_account(self) -> tuple[int, int]:
        """The user and group id under which processes of the application run."""

    @abstractmethod
    def start(
        self,
        node: str,
        name: str,
        argv: Sequence[object],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        root: Root | None = None,
        account: tuple[int, int] | None = None,
        whole_output: bool = False,
    ) -> Process:
        """Start a process in a node under the application's account; its output goes to the trial's logs.

        Only head and tail of a long output are stored (`outputs`).

        Args:
            cwd: as the process sees it.
            root: its root file system; the host's when absent.
            account: user and group id instead of the application's; only as root.
            whole_output: its output is data of the trial, a line for each operation, and is read before the
                fabric is taken down. Until then all of it is stored.
        """

    @abstractmethod
    def strike(self, strike: Strike, nodes: Sequence[str], at_ns: int | None = None) -> int:
        """Stop every process of nodes, let them go on, or kill them.

        Args:
            at_ns: when, on the clock of the measurement, at most 10 s ahead; now when absent.
        Returns: when the last process had it, on that clock; after a kill, none is left.
        """

    @abstractmethod
    def limit(self, nodes: Sequence[str], limits: RequestedLimits | None, at_ns: int | None = None) -> int:
        """Change the limits of nodes that came up with `changing` ones.

        Args:
            limits: all of them; those that the nodes came up with when absent.
            at_ns: as of `strike`.
        Returns: when the last node had them.
        """

    @abstractmethod
    def disk(self, nodes: Sequence[str], disk: ResolvedDisk | None, at_ns: int | None = None) -> int:
        """Make the disks full or slow that nodes have from their first process on, where their limits say so.

        Args:
            disk: None: whole again.
            at_ns: as of `strike`.
        Returns: when the last one was.
        """

    @abstractmethod
    def clock(self, nodes: Sequence[str], clock: ResolvedClock | None, at_ns: int | None = None) -> int:
        """Change the clock of the programs that nodes start from now on.

        Args:
            clock: None: the right time.
            at_ns: since when it runs, on the clock of the measurement, at most 10 s ahead; now when absent.
        Returns: when the last node had it.
        """

    @abstractmethod
    def listeners(self, node: str) -> list[Listener]:
        """Return the sockets of a node that listen; looking disturbs none of its processes."""

    @abstractmethod
    def fresh(self, work: WorkFolder, name: str) -> Path:
        """Return an empty folder for files of the application, here and on every machine."""

    @abstractmethod
    def set(self, condition: FabricCondition) -> int:
        """Change the condition; return the instant from which it holds, in ns of CLOCK_MONOTONIC."""

    @abstractmethod
    def cut(self, cuts: Sequence[ResolvedCut]) -> int:
        """Cut nodes off by hand, and end all earlier cuts by hand; return the instant from which it holds.

        Cuts of the condition's timeline are others, and stay. Refused where the fabric has no faults.
        """

    @abstractmethod
    def measure(self) -> int:
        """Start a new measurement window; return its start, in ns of CLOCK_MONOTONIC."""

    @abstractmethod
    def read(self) -> Measurement:
        """Return the measurement of the window so far."""

    @abstractmethod
    def watch(self, listener: Callable[[Step], None]) -> None:
        """Hand every step to `listener`, until the fabric goes.

        Args:
            listener: is called on another thread: it must return at once, and never raise.
        """

    @abstractmethod
    def now_ns(self) -> int:
        """Return the present on the clock of the measurement."""

    def now_s(self) -> float:
        """Return the present on that clock, in s."""
        return self.now_ns() / 1e9

    @abstractmethod
    def clock_of(self, node: str) -> ClockLine:
        """Return the clock of a node's machine in the window, against the clock of the measurement."""

    def machine_of(self, node: str) -> int:
        """Return the number of a node's machine; nodes of one machine share its files and its clock."""
        return 0

    def stop(self, processes: Sequence[Process], grace_s: float = GRACE_S) -> None:
        """End several processes at once; those that ignore SIGTERM cost no more time together than one.

        Args:
            grace_s: between SIGTERM to all of them and SIGKILL to those that still run.
        """
        for process in processes:
            if process.ended is None:
                process.signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_of(self.time, grace_s)
        for process in processes:
            process.wait(max(0.0, deadline - time.monotonic()) / self.time.factor)
        for process in processes:
            process.stop(0)

    def probe(
        self,
        node: str,
        name: str,
        argv: Sequence[object],
        *,
        cwd: Path,
        timeout_s: float,
        alive: Sequence[Process],
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Run a command in a node until it succeeds, to wait until a server is ready.

        Args:
            alive: processes that must stay up; the wait ends as soon as one of them has ended.

        Raises:
            TestbedError: one of `alive` ended, or the command did not succeed within `timeout_s`.
        """
        deadline = self.now_s() + timeout_s
        while True:
            attempt = self.start(node, name, argv, cwd=cwd, env=env)
            if attempt.wait(timeout_s) == Ended(0, None):
                return
            for process in alive:
                if process.ended is not None:
                    raise TestbedError(
                        f"{process}: ended before it was ready ({process.ended}); {process.last_words()}"
                    )
            if self.now_s() > deadline:
                attempt.stop(0)
                waited = ", ".join(str(process) for process in alive)
                raise TestbedError(f"{waited}: not ready after {timeout_s:g} s (probe: {name} on {node})")
            time.sleep(PROBE_INTERVAL_S)
