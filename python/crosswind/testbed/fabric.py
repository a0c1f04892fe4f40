"""A fabric that is up: its nodes, the processes in them, its condition, its measurement window."""

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from crosswind.results import Measurement
from crosswind.results.measurement import SAME_CLOCK, ClockLine
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.resolved import RequestedLimits
from crosswind.stream import Step
from crosswind.testbed.agent import Agent, Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.outputs import KEEP, last_words, printed, shorten
from crosswind.testbed.replies import Changed, Down, Measuring, Node, Reply, Started, Stopped, Up

# With what the kernel needs to end the rest, a stop takes less than five seconds.
GRACE_S = 4.0
# Short against the start of any server, long against the cost of one probe (a few ms).
PROBE_INTERVAL_S = 0.02


class Process:
    """A process of the application in a node."""

    def __init__(self, agent: Agent, number: int, node: str, name: str, stdout: Path, stderr: Path) -> None:
        self._agent = agent
        self.number = number
        self.node = node
        self.name = name
        self.stdout = stdout
        self.stderr = stderr

    def __str__(self) -> str:
        return f"{self.name} on {self.node}"

    @property
    def ended(self) -> Ended | None:
        """How it ended, or None while it runs."""
        return self._agent.exit_of(self.number)

    def wait(self, timeout_s: float) -> Ended | None:
        """Wait for its end; return None when it still runs after `timeout_s`."""
        return self._agent.wait_exit(self.number, timeout_s)

    def stop(self, grace_s: float = GRACE_S) -> Ended:
        """End its process group: SIGTERM, and SIGKILL after `grace_s`."""
        ended = self._agent.request(
            "stop",
            Stopped,
            {"process": self.number, "grace_ns": round(grace_s * 1e9)},
            timeout_s=grace_s + 30,
        )
        return Ended(ended.code, ended.signal)

    def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        self._agent.request("signal", Reply, {"process": self.number, "signal": number})

    def printed(self) -> str:
        """Return its standard output; a long one is head and tail, with a line between that says so."""
        return printed(self.stdout).text

    def complained(self) -> str:
        """Return its standard error, in the same way."""
        return printed(self.stderr).text

    def last_words(self) -> str:
        """Return the last lines of its standard error, or else of its output, for an error message."""
        for log in (self.stderr, self.stdout):
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
        wait_mode: `spin` or `sleep`: what the emulator does between packets.
        domains: how many threads, or machines, carry the network.
        written: the files that were written while it was up; after its end.
    """

    def __init__(self) -> None:
        self.written = Down()
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
    def set(self, condition: FabricCondition) -> int:
        """Change the condition; return the instant from which it holds, in ns of CLOCK_MONOTONIC."""

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

    @abstractmethod
    def clock_of(self, node: str) -> ClockLine:
        """Return the clock of a node's machine in the window, against the clock of the measurement."""

    def stop(self, processes: Sequence[Process], grace_s: float = GRACE_S) -> None:
        """End several processes at once; those that ignore SIGTERM cost no more time together than one.

        Args:
            grace_s: between SIGTERM to all of them and SIGKILL to those that still run.
        """
        for process in processes:
            if process.ended is None:
                process.signal(signal.SIGTERM)
        deadline = time.monotonic() + grace_s
        for process in processes:
            process.wait(max(0.0, deadline - time.monotonic()))
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
        deadline = time.monotonic() + timeout_s
        while True:
            attempt = self.start(node, name, argv, cwd=cwd, env=env)
            if attempt.wait(timeout_s) == Ended(0, None):
                return
            for process in alive:
                if process.ended is not None:
                    raise TestbedError(
                        f"{process}: ended before it was ready ({process.ended}); {process.last_words()}"
                    )
            if time.monotonic() > deadline:
                attempt.stop(0)
                waited = ", ".join(str(process) for process in alive)
                raise TestbedError(f"{waited}: not ready after {timeout_s:g} s (probe: {name} on {node})")
            time.sleep(PROBE_INTERVAL_S)


class RunningFabric(Fabric):
    """A fabric of one agent; entering the block brings it up, leaving it takes it down.

    Args:
        agent: the agent that makes them; one fabric at a time.
        spec: the fabric of docs/reference/contracts.md, section 1.
        logs: folder for the outputs of processes, as `<node>/<process>.{out,err}`.
        files: the files that are written while it is up.
        limits: of nodes that have some.
        generation: which of the fabrics this is that several agents have brought up together, from 1; None
            where the agent is alone.
    """

    def __init__(
        self,
        agent: Agent,
        spec: FabricSpec,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
        generation: int | None = None,
    ) -> None:
        super().__init__()
        self._agent = agent
        self._spec = spec
        self._logs = logs
        self._files = files or FabricFiles()
        self._limits = dict(limits or {})
        self._generation = generation
        self._outputs: set[Path] = set()

    @property
    def application_account(self) -> tuple[int, int]:
        return self._agent.hello.application_uid, self._agent.hello.application_gid

    def __enter__(self) -> Self:
        request = {"fabric": self._spec.as_json(), **self._files.as_request()}
        if self._limits:
            request["limits"] = self._limits
        if self._generation is not None:
            request["generation"] = self._generation
        up = self._agent.request("up", Up, request)
        self.nodes = {node.name: node for node in up.nodes}
        self.wait_mode = up.wait_mode
        self.domains = up.domains
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.written = self._agent.request("down", Down)
        except TestbedError:
            # After a failure the agent may be gone, and the fabric with it. The first error is shown.
            if error is None:
                raise
        finally:
            for output in self._outputs:
                shorten(output)

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
        folder = self._logs / node
        folder.mkdir(parents=True, exist_ok=True)
        stdout, stderr = folder / f"{name}.out", folder / f"{name}.err"
        request: dict[str, object] = {
            "node": node,
            "name": name,
            "argv": [str(word) for word in argv],
            "env": dict(env or {}),
            "cwd": str(cwd),
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        if root is not None:
            request["root"] = root.as_request()
        if not whole_output:
            request["keep"] = KEEP
        if account is not None:
            request["account"] = {"uid": account[0], "gid": account[1]}
        started = self._agent.request("start", Started, request)
        self._outputs |= {stdout, stderr}
        return Process(self._agent, started.process, node, name, stdout, stderr)

    def set(self, condition: FabricCondition, at_ns: int | None = None) -> int:
        """As of every fabric; with `at_ns`, at this instant of the agent's clock."""
        request = {"condition": condition.as_json(), **_at(at_ns)}
        return self._agent.request("set", Changed, request).effective_ns

    def measure(self, at_ns: int | None = None) -> int:
        """As of every fabric; with `at_ns`, at this instant of the agent's clock."""
        return self._agent.request("measure", Measuring, _at(at_ns)).started_ns

    def read(self) -> Measurement:
        return self._agent.request("read", Measurement)

    def watch(self, listener: Callable[[Step], None]) -> None:
        self._agent.watch(listener)

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def clock_of(self, node: str) -> ClockLine:
        return SAME_CLOCK


def _at(at_ns: int | None) -> dict[str, int]:
    return {} if at_ns is None else {"at_ns": at_ns}
