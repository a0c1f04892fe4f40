"""A fabric of one agent: all of a network on this machine, or a machine's part of it."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from crosswind.results import Measurement
from crosswind.results.measurement import SAME_CLOCK, ClockLine
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.resolved import REAL_TIME, RequestedLimits, ResolvedClock, ResolvedCut, ResolvedDisk
from crosswind.stream import Step
from crosswind.testbed.agent import Agent
from crosswind.testbed.errors import AgentDied, TestbedError
from crosswind.testbed.fabric import Fabric, FabricFiles, Process, Root, Strike
from crosswind.testbed.files import HereFiles, MachineFiles
from crosswind.testbed.folders import WorkFolder
from crosswind.testbed.outputs import HEAD_BYTES, KEEP, TAIL_BYTES, shorten
from crosswind.testbed.replies import (
    Changed,
    Down,
    Listener,
    Listening,
    Measuring,
    Reply,
    Started,
    Struck,
    Up,
)

# 200,000 drops and as many retransmissions are 80 MB, and 20 active elements 100 MB an hour.
MEASUREMENT_BYTES_MAX = 1 << 30


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
        machine_files: of the agent's machine; this machine's when absent.
        check: of other machines that carry the network, as of `Process`.
    """

    def __init__(
        self,
        agent: Agent,
        spec: FabricSpec,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
        generation: int | None = None,
        machine_files: MachineFiles | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._agent = agent
        self._spec = spec
        self._logs = logs
        self._files = files or FabricFiles()
        self._limits = dict(limits or {})
        self._generation = generation
        self._machine_files = machine_files or HereFiles()
        self._check = check
        self._outputs: set[Path] = set()
        self._processes: list[Process] = []
        self._is_down = False
        # Whose data are to be on a disk of their own, and are not yet.
        self._without_disk = {node for node, limits in self._limits.items() if limits.get("disk")}
        self._data: Path | None = None

    @property
    def application_account(self) -> tuple[int, int]:
        return self._agent.application_account

    def __enter__(self) -> Self:
        self._up({})
        return self

    def _up(self, more: Mapping[str, object]) -> Up:
        """Bring it up; `more` are further keys of the request."""
        request = {"fabric": self._spec.as_json(), **self._files.as_request(), **more}
        if self._limits:
            request["limits"] = self._limits
        if self._spec.overlay is not None:
            request["overlay"] = self._spec.overlay
        if self._spec.dilation is not None:
            request["dilation"] = {"factor": self._spec.dilation}
        if self._spec.clocks:
            request["clocks"] = True
        if self._generation is not None:
            request["generation"] = self._generation
        up = self._agent.request("up", Up, request)
        names = [node.name for node in up.nodes]
        if not {*names} <= {node.name for node in self._spec.nodes} or len({*names}) < len(names):
            raise AgentDied(
                f"{self._agent.title}: it made other nodes than those of the network; reinstall so that the "
                "agent and this crosswind come from the same version"
            )
        self.nodes = {node.name: node for node in up.nodes}
        self.wait_mode = up.wait_mode
        self.domains = up.domains
        if self._spec.dilation != (up.dilation and up.dilation.factor):
            raise AgentDied(
                f"{self._agent.title}: it did not slow time down in the nodes; reinstall so that the agent "
                "and this crosswind come from the same version"
            )
        self.time = up.dilation or REAL_TIME
        return up

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A thread that still starts or strikes something must not hit the next fabric of the agent.
        self._is_down = True
        try:
            self.written = self._agent.request("down", Down)
        except TestbedError:
            # After a failure the agent may be gone, and the fabric with it. The first error is shown.
            if error is None:
                raise
        finally:
            self._bring_outputs()

    def _bring_outputs(self) -> None:
        for output in self._outputs:
            # After a failure the agent may be gone, and its outputs with it.
            with suppress(TestbedError, FileNotFoundError):
                self._machine_files.bring_output(output, (HEAD_BYTES, TAIL_BYTES))
            with suppress(FileNotFoundError):
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
        self._check_up(f"start {name} on {node}")
        folder, files = self._logs / node, self._machine_files
        stdout, stderr = folder / f"{name}.out", folder / f"{name}.err"
        (stdout_there, printed), (stderr_there, complained) = files.output(stdout), files.output(stderr)
        files.send()
        if self._data is not None and node in self._without_disk:
            self._agent.request("mount", Reply, {"node": node, "folder": str(self._data / node)})
            self._without_disk.remove(node)
        request: dict[str, object] = {
            "node": node,
            "name": name,
            "argv": [files.word(str(word)) for word in argv],
            "env": {variable: files.word(value) for variable, value in (env or {}).items()},
            "cwd": str(cwd),
            "stdout": str(stdout_there),
            "stderr": str(stderr_there),
        }
        if root is not None:
            request["root"] = root.as_request()
        if not whole_output:
            request["keep"] = KEEP
        if account is not None:
            request["account"] = {"uid": account[0], "gid": account[1]}
        started_ns = self.time.perceived_ns(time.monotonic_ns())
        started = self._agent.request("start", Started, request)
        self._outputs |= {stdout, stderr}
        outputs = (printed, complained)
        process = Process(
            self._agent,
            started.process,
            node,
            name,
            stdout,
            stderr,
            files,
            outputs,
            self.time,
            started_ns,
            self._check,
        )
        self._processes.append(process)
        return process

    def strike(self, strike: Strike, nodes: Sequence[str], at_ns: int | None = None) -> int:
        self._check_up(f"{strike} {' '.join(nodes)}")
        if strike == "kill":
            for process in self._processes:
                process.struck_down |= process.node in nodes and process.ended is None
        return self._agent.request(strike, Struck, {"nodes": list(nodes), **_at(at_ns)}).done_ns

    def limit(self, nodes: Sequence[str], limits: RequestedLimits | None, at_ns: int | None = None) -> int:
        request = {"nodes": list(nodes), "limits": limits, **_at(at_ns)}
        return self._agent.request("limit", Struck, request).done_ns

    def disk(self, nodes: Sequence[str], disk: ResolvedDisk | None, at_ns: int | None = None) -> int:
        left = {} if disk is None else {"disk": disk.as_json()}
        return self._agent.request("disk", Struck, {"nodes": list(nodes), **left, **_at(at_ns)}).done_ns

    def clock(self, nodes: Sequence[str], clock: ResolvedClock | None, at_ns: int | None = None) -> int:
        wrong = {} if clock is None else {"clock": clock.as_json()}
        return self._agent.request("clock", Struck, {"nodes": list(nodes), **wrong, **_at(at_ns)}).done_ns

    def _check_up(self, what: str) -> None:
        if self._is_down:
            raise TestbedError(f"{what}: the network is down")

    def listeners(self, node: str) -> list[Listener]:
        return self._agent.request("listening", Listening, {"node": node}).sockets

    def fresh(self, work: WorkFolder, name: str) -> Path:
        folder = work.fresh(name, *self.application_account)
        self._machine_files.fresh(folder)
        self._data = folder
        return folder

    def set(self, condition: FabricCondition, at_ns: int | None = None) -> int:
        """As of every fabric; with `at_ns`, at this instant of the agent's clock."""
        request = {"condition": condition.as_json(), **_at(at_ns)}
        return self._agent.request("set", Changed, request).effective_ns

    def cut(self, cuts: Sequence[ResolvedCut], at_ns: int | None = None) -> int:
        """As of every fabric; with `at_ns`, at this instant of the agent's clock."""
        request = {"cuts": [cut.as_json() for cut in cuts], **_at(at_ns)}
        return self._agent.request("cut", Changed, request).effective_ns

    def measure(self, at_ns: int | None = None) -> int:
        """As of every fabric; with `at_ns`, at this instant of the agent's clock."""
        return self._agent.request("measure", Measuring, _at(at_ns)).started_ns

    def read(self) -> Measurement:
        measured = self._agent.request("read", Measurement, most_bytes=MEASUREMENT_BYTES_MAX)
        # What joins its instants, which are perceived, with those of the run's own files.
        return measured if self._spec.dilation is None else measured.model_copy(update={"time": self.time})

    def watch(self, listener: Callable[[Step], None]) -> None:
        self._agent.watch(listener)

    def now_ns(self) -> int:
        return self.time.perceived_ns(time.monotonic_ns())

    def clock_of(self, node: str) -> ClockLine:
        return SAME_CLOCK


def _at(at_ns: int | None) -> dict[str, int]:
    return {} if at_ns is None else {"at_ns": at_ns}
