"""A fabric that is up: its nodes, the processes in them, the condition in force, the measurement window."""

import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from crosswind.spec import FabricCondition, FabricSpec
from crosswind.testbed.agent import Agent, Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.outputs import KEEP, last_words, printed, shorten

# With what the kernel needs to end the rest, a stop takes less than five seconds.
GRACE_S = 4.0
# Short against the start of any server, long against the cost of one probe (a few ms).
PROBE_INTERVAL_S = 0.02


@dataclass(frozen=True)
class Node:
    """A node as the agent made it; `pid` is its init process as seen by this process."""

    name: str
    host: str
    address: str
    pid: int


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
            "stop", timeout_s=grace_s + 30, process=self.number, grace_ns=round(grace_s * 1e9)
        )
        return Ended(ended["code"], ended["signal"])

    def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        self._agent.request("signal", process=self.number, signal=number)

    def printed(self) -> str:
        """Return its standard output: of a long one head and tail, with a line between that says so."""
        return printed(self.stdout).text

    def complained(self) -> str:
        """Return its standard error, likewise."""
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
    """A root file system for a process, with what else is seen in it (contracts.md, section 2)."""

    folder: Path
    binds: tuple[Bind, ...]
    hostname: str | None = None  # The node's when absent.

    def as_request(self) -> dict[str, Any]:
        """Return the value of `root` in a request to start a process."""
        binds = [
            {"from": str(bind.source), "to": str(bind.to), "read_only": bind.read_only} for bind in self.binds
        ]
        named = {} if self.hostname is None else {"hostname": self.hostname}
        return {"folder": str(self.folder), "binds": binds, **named}


@dataclass(frozen=True)
class Files:
    """Files that the agent writes while a fabric is up; neither may exist before.

    Attributes:
        record: a recording of everything that the engine does, for `crosswind simulate`.
        capture: a pcapng file of what entered, left and was dropped.
        snap_bytes: kept of every captured frame.
        limit_bytes: the capture ends at this size.
    """

    record: Path | None = None
    capture: Path | None = None
    snap_bytes: int = 128
    limit_bytes: int = 1 << 30

    def as_request(self) -> dict[str, Any]:
        """Return the keys of `up` (contracts.md, section 2)."""
        request: dict[str, Any] = {}
        if self.record is not None:
            request["record"] = str(self.record.absolute())
        if self.capture is not None:
            request["capture"] = {
                "to": str(self.capture.absolute()),
                "snap_bytes": self.snap_bytes,
                "limit_bytes": self.limit_bytes,
            }
        return request


class RunningFabric:
    """Nodes and network of one trial; entering the block brings them up, leaving it takes them down.

    Args:
        agent: the agent that makes them; one fabric at a time.
        spec: the fabric of docs/reference/contracts.md, section 1.
        logs: folder for the outputs of processes, as `<node>/<process>.{out,err}`.
        files: what is written meanwhile.
        limits: of nodes, as in section 2 of the same page.

    Attributes:
        kept: after the block, what became of these files: `recording` and `capture` of `down` (contracts.md,
            section 2).
    """

    def __init__(
        self,
        agent: Agent,
        spec: FabricSpec,
        logs: Path,
        files: Files | None = None,
        limits: Mapping[str, Any] | None = None,
    ) -> None:
        self._agent = agent
        self._spec = spec
        self._logs = logs
        self._files = files or Files()
        self._limits = dict(limits or {})
        self.kept: dict[str, Any] = {"recording": None, "capture": None}
        self.nodes: dict[str, Node] = {}
        self.wait_mode = ""
        self.domains = 0
        self._outputs: set[Path] = set()

    @property
    def application_account(self) -> tuple[int, int]:
        """The user and group id under which processes of the application run."""
        return self._agent.hello.application_uid, self._agent.hello.application_gid

    def __enter__(self) -> Self:
        request = self._files.as_request()
        if self._limits:
            request["limits"] = self._limits
        made = self._agent.request("up", fabric=self._spec.as_json(), **request)
        self.nodes = {
            node["name"]: Node(node["name"], node["host"], node["address"], node["pid"])
            for node in made["nodes"]
        }
        self.wait_mode = made["wait_mode"]
        self.domains = made["domains"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            done = self._agent.request("down")
            self.kept = {key: done[key] for key in self.kept}
        except TestbedError:
            # After a failure the agent may be gone, and the fabric with it; the first error is the one to
            # show.
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
        """Start a process in a node as the application's account; its output goes to the trial's logs.

        Of a long output head and tail are kept (`outputs`).

        Args:
            cwd: as the process sees it.
            root: its root file system; the host's when absent.
            account: the user and group id it runs as, where not those of applications; only as root.
            whole_output: its output is data of the trial, a line for each operation, which is read line by
                line before the fabric goes; until then nothing of it is left out.
        """
        folder = self._logs / node
        folder.mkdir(parents=True, exist_ok=True)
        stdout, stderr = folder / f"{name}.out", folder / f"{name}.err"
        asked: dict[str, Any] = {} if root is None else {"root": root.as_request()}
        if not whole_output:
            asked["keep"] = KEEP
        if account is not None:
            asked["account"] = {"uid": account[0], "gid": account[1]}
        started = self._agent.request(
            "start",
            node=node,
            name=name,
            argv=[str(word) for word in argv],
            env=dict(env or {}),
            cwd=str(cwd),
            stdout=str(stdout),
            stderr=str(stderr),
            **asked,
        )
        self._outputs |= {stdout, stderr}
        return Process(self._agent, started["process"], node, name, stdout, stderr)

    def stop(self, processes: Sequence[Process], grace_s: float = GRACE_S) -> None:
        """End several processes side by side, however many of them do not listen.

        Args:
            grace_s: between SIGTERM to all of them and SIGKILL to those that are still there.
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
        """Run a command in a node until it succeeds: readiness is observed, never slept for.

        Args:
            alive: processes that must stay up meanwhile; the wait ends as soon as one of them has ended.

        Raises:
            TestbedError: one of `alive` ended, or no success within `timeout_s`.
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

    def set(self, condition: FabricCondition) -> int:
        """Change the condition; return the instant from which it holds, in ns of CLOCK_MONOTONIC."""
        effective: int = self._agent.request("set", condition=condition.as_json())["effective_ns"]
        return effective

    def measure(self) -> int:
        """Start a new measurement window; return its start, in ns of CLOCK_MONOTONIC."""
        started: int = self._agent.request("measure")["started_ns"]
        return started

    def read(self) -> dict[str, Any]:
        """Return the measurement of the window so far (docs/reference/contracts.md, section 3)."""
        return self._agent.request("read")
