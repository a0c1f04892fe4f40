"""A fabric that several machines carry together, used like that of one machine.

What concerns a node goes to its machine. Changes of condition and measurements begin at one instant,
translated into every machine's clock. All instants that come back are on the first machine's clock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from crosswind.results import Measurement
from crosswind.results.measurement import SAME_CLOCK, ClockLine
from crosswind.results.measurement.clock import line_through
from crosswind.results.measurement.together import OfMachine, together
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.resolved import RequestedLimits, ResolvedClock, ResolvedCut, ResolvedDisk
from crosswind.stream import Step
from crosswind.testbed.at_once import at_once
from crosswind.testbed.cluster_files import ClusterFiles
from crosswind.testbed.errors import AgentDied, TestbedError
from crosswind.testbed.fabric import Fabric, FabricFiles, Process, Root, Strike
from crosswind.testbed.folders import WorkFolder
from crosswind.testbed.machines import ClocksAt, ComparedClock, Machines
from crosswind.testbed.replies import Listener, Node
from crosswind.testbed.running import RunningFabric

# Between a request and its instant: as long as a busy machine may take to hand the request to its emulator.
LEAD_NS = 50_000_000
# A clock that is disciplined changes its speed within some seconds.
COMPARE_S = 1.0
# Before a window, for instants that lie before it, such as those of a warm-up.
BEFORE_NS = 10_000_000_000


class ClusterFabric(Fabric):
    """Nodes and network of one trial on several machines; entering the block brings them up.

    Args:
        machines: their agents.
        spec: the fabric, whose `domains` are the hosts and switches of each machine, in the order of these.
        logs: folder for the outputs of processes, as `<node>/<process>.{out,err}`.
        files: that are written while it is up: a recording of each machine, and one capture.
        limits: of nodes that have some.
    """

    def __init__(
        self,
        machines: Machines,
        spec: FabricSpec,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
    ) -> None:
        super().__init__()
        self._machines = machines
        self._spec = spec
        self._files = ClusterFiles(machines.names, machines.files, files or FabricFiles())
        generation = machines.next_generation()
        self._parts = [
            RunningFabric(agent, spec, logs, written, limits, generation, files_there, machines.check)
            for agent, files_there, written in zip(
                machines.agents, machines.files, self._files.there, strict=True
            )
        ]
        self._machine_of: dict[str, int] = {}
        self._files_wait = False
        self._clocks = _Clocks(machines)
        self._started_ns: list[int | None] = [None] * len(self._parts)
        self._realtime_minus_monotonic_ns = 0  # Of the first machine, when it was read last.
        self._lead_ns = LEAD_NS + machines.round_trip_ns
        # It asks the first machine for the clocks twice.
        self.measure_takes_s = (self._lead_ns + 2 * machines.round_trip_ns) / 1e9
        self._stack = ExitStack()

    @property
    def application_account(self) -> tuple[int, int]:
        # Files here have to be readable here; on the machines, their agents give them to the application.
        return self._parts[0].application_account if os.geteuid() == 0 else (os.geteuid(), os.getegid())

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            at_once(RunningFabric.__enter__, self._parts, _take_down)
            stack.push(self._down)
            for machine, part in enumerate(self._parts):
                self._machine_of |= dict.fromkeys(part.nodes, machine)
            made = {name: node for part in self._parts for name, node in part.nodes.items()}
            self._check(made)
            self.nodes = {node.name: made[node.name] for node in self._spec.nodes}
            self.wait_mode = self._parts[0].wait_mode
            self.domains = len(self._parts)
            stack.enter_context(self._clocks)
            self._stack = stack.pop_all()
        return self

    def _check(self, made: Mapping[str, Node]) -> None:
        """Raise an error where the machines together did not make each node once."""
        twice = sum(len(part.nodes) for part in self._parts) - len(made)
        missing = [node.name for node in self._spec.nodes if node.name not in made]
        if twice or missing:
            what = f"none made {missing[0]}" if missing else "two made the same node"
            raise AgentDied(
                f"agents on {', '.join(self._machines.names)}: {what}; reinstall so that they and this "
                "crosswind come from the same version"
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def _down(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        lines: list[ClockLine] = []
        try:
            if error is None:
                # Emulators know the clocks as long as they are up.
                lines = self._clocks.lines()
        finally:
            at_once(lambda part: part.__exit__(kind, error, trace), self._parts)
        if error is None:
            written = [part.written for part in self._parts]
            self.written = self._files.bring(written, lines, self._realtime_minus_monotonic_ns)

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
        if self._files_wait:
            # All machines get theirs at once, and later what is new before a process starts there.
            self._files_wait = False
            at_once(lambda files: files.send(), self._machines.files)
        part = self._parts[self._machine_of[node]]
        return part.start(
            node, name, argv, cwd=cwd, env=env, root=root, account=account, whole_output=whole_output
        )

    def strike(self, strike: Strike, nodes: Sequence[str], at_ns: int | None = None) -> int:
        return self._on_each(nodes, at_ns, lambda part, there, at: part.strike(strike, there, at))

    def limit(self, nodes: Sequence[str], limits: RequestedLimits | None, at_ns: int | None = None) -> int:
        return self._on_each(nodes, at_ns, lambda part, there, at: part.limit(there, limits, at))

    def disk(self, nodes: Sequence[str], disk: ResolvedDisk | None, at_ns: int | None = None) -> int:
        return self._on_each(nodes, at_ns, lambda part, there, at: part.disk(there, disk, at))

    def clock(self, nodes: Sequence[str], clock: ResolvedClock | None, at_ns: int | None = None) -> int:
        return self._on_each(nodes, at_ns, lambda part, there, at: part.clock(there, clock, at))

    def _on_each(
        self,
        nodes: Sequence[str],
        at_ns: int | None,
        do: Callable[[RunningFabric, Sequence[str], int | None], int],
    ) -> int:
        """Do something to nodes on their machines at one instant; return when the last was done."""
        lines = self._clocks.latest()
        of_machine: dict[int, list[str]] = {}
        for node in nodes:
            of_machine.setdefault(self._machine_of[node], []).append(node)

        def do_there(machine: int) -> int:
            there_ns = None if at_ns is None else lines[machine].there(at_ns)
            return lines[machine].here(do(self._parts[machine], of_machine[machine], there_ns))

        return max(at_once(do_there, sorted(of_machine)))

    def listeners(self, node: str) -> list[Listener]:
        return self._parts[self._machine_of[node]].listeners(node)

    def fresh(self, work: WorkFolder, name: str) -> Path:
        folder = work.fresh(name, *self.application_account)

        def fresh_there(machine: int) -> None:
            elsewhere = [node for node, at in self._machine_of.items() if at != machine]
            self._machines.files[machine].fresh(folder, elsewhere)

        at_once(fresh_there, range(len(self._parts)))
        self._files_wait = True
        return folder

    def set(self, condition: FabricCondition) -> int:
        lines, at_ns = self._coming()

        def set_there(machine: int) -> int:
            there_ns = self._parts[machine].set(condition, lines[machine].there(at_ns))
            return lines[machine].here(there_ns)

        return max(at_once(set_there, range(len(self._parts))))

    def cut(self, cuts: Sequence[ResolvedCut]) -> int:
        lines, at_ns = self._coming()

        def cut_there(machine: int) -> int:
            there_ns = self._parts[machine].cut(cuts, lines[machine].there(at_ns))
            return lines[machine].here(there_ns)

        return max(at_once(cut_there, range(len(self._parts))))

    def measure(self) -> int:
        self._clocks.begin()
        lines, at_ns = self._coming()

        def measure_there(machine: int) -> int:
            return self._parts[machine].measure(lines[machine].there(at_ns))

        started_ns = at_once(measure_there, range(len(self._parts)))
        self._started_ns = list(started_ns)
        return lines[0].here(started_ns[0])

    def read(self) -> Measurement:
        measured = at_once(RunningFabric.read, self._parts)
        self._realtime_minus_monotonic_ns = measured[0].window.realtime_minus_monotonic_ns
        lines = self._clocks.lines()
        return together(
            [
                OfMachine(name, measurement, line)
                for name, measurement, line in zip(self._machines.names, measured, lines, strict=True)
            ]
        )

    def watch(self, listener: Callable[[Step], None]) -> None:
        def watch_there(machine: int) -> None:
            self._parts[machine].watch(lambda step: listener(self._step_here(machine, step)))

        at_once(watch_there, range(len(self._parts)))

    def now_ns(self) -> int:
        return self._machines.now_ns()

    def clock_of(self, node: str) -> ClockLine:
        return self._clocks.lines()[self._machine_of[node]]

    def machine_of(self, node: str) -> int:
        return self._machine_of[node]

    def _coming(self) -> tuple[list[ClockLine], int]:
        """Return the clocks of all machines now, and an instant of the first one that is soon."""
        compared = self._clocks.compare()
        return compared.lines, compared.here_ns + self._lead_ns

    def _step_here(self, machine: int, step: Step) -> Step:
        """Return a step of one machine on the first one's clock, with the machine's number as its domain."""
        line = self._clocks.latest()[machine]
        first, own = self._started_ns[0], self._started_ns[machine]
        began_ns = line.here(step.window_started_ns)
        if first is not None and step.window_started_ns == own:
            # All machines have the same steps.
            began_ns = first
        since_ns = step.at_ns - step.window_started_ns
        changes = [
            change.model_copy(
                update={"at_ns": line.here(change.at_ns), "asked_ns": line.here(change.asked_ns)}
            )
            for change in step.changes
        ]
        return step.model_copy(
            update={
                "domain": machine,
                "window_started_ns": began_ns,
                "at_ns": began_ns + since_ns,
                "rows": tuple(row.model_copy(update={"at_ns": began_ns + since_ns}) for row in step.rows),
                "changes": tuple(changes),
                "stalls": tuple(
                    stall.model_copy(update={"at_ns": line.here(stall.at_ns)}) for stall in step.stalls
                ),
            }
        )


class _Clocks:
    """The clocks of all machines while a fabric is up, compared again and again."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines
        self._lock = threading.Lock()
        self._compared: list[ClocksAt] = []
        self._ended = threading.Event()
        self._follower = threading.Thread(target=self._follow, daemon=True, name="clocks")

    def __enter__(self) -> Self:
        self.compare()
        self._follower.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._follower.join()

    def begin(self) -> None:
        """Forget what was long before: a window begins."""
        found = self.compare()
        with self._lock:
            since_ns = found.here_ns - BEFORE_NS
            self._compared = [it for it in self._compared if it.here_ns >= since_ns]

    def compare(self) -> ClocksAt:
        """Return the clocks of the other machines now."""
        found = self._machines.compare()
        with self._lock:
            self._compared.append(found)
            self._compared.sort(key=lambda compared: compared.here_ns)
        return found

    def lines(self) -> list[ClockLine]:
        """Return the clocks of all machines as lines from the begin of the window until now."""
        self.compare()
        with self._lock:
            each = list(zip(*(compared.others for compared in self._compared), strict=True))
        return [SAME_CLOCK, *(_line(of_one) for of_one in each)]

    def latest(self) -> list[ClockLine]:
        """Return the clocks of all machines by their latest comparison."""
        with self._lock:
            return self._compared[-1].lines

    def _follow(self) -> None:
        while not self._ended.wait(COMPARE_S):
            try:
                self.compare()
            except TestbedError:
                # The main thread meets the same failure at its next request and reports it.
                return


def _line(compared: Sequence[ComparedClock]) -> ClockLine:
    return line_through([it.comparison for it in compared], compared[-1].estimate.skew_ppb)


def _take_down(part: RunningFabric) -> None:
    part.__exit__(None, None, None)
