"""A network for your own programs: it is up while a block runs."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from pydantic import JsonValue

from crosswind.api.faults import FaultsByHand
from crosswind.api.reading import Reading, reading_of
from crosswind.doctor import auto_domains_here
from crosswind.errors import CrosswindError
from crosswind.spec import (
    FabricCondition,
    ResolvedCondition,
    Setup,
    carried_out,
    condition_for_agent,
    count_of,
    domains_of,
    fabric_of,
    find_experiment,
    limits_of,
    load_setup,
)
from crosswind.spec.document import document_of
from crosswind.spec.network import Network
from crosswind.spec.quantities import SIZE, QuantityError
from crosswind.spec.setup import setup_of
from crosswind.stream import Event, NodeFault, Step, Stream, Subscription
from crosswind.testbed import Agent, Ended, FabricFiles, Node, RunningFabric, TestbedError, WorkFolder
from crosswind.testbed.enter import require_node, words_to_enter
from crosswind.testbed.fabric import PROBE_INTERVAL_S, grace_of

# Of all that the network draws; two fabrics should not differ without a reason.
SEED = 1
# Between SIGTERM and SIGKILL for programs that still run when the block ends.
_GRACE_S = 2.0
_LISTENING = "0A"  # TCP_LISTEN in /proc/net/tcp.


@dataclass(frozen=True)
class Written:
    """A file that was written while the network was up.

    Attributes:
        entries: packets of a capture, records of a recording.
        left_out: entries that are not in the file; a recording that lacks some cannot be replayed.
        error: why entries are left out, where the system gave a reason.
    """

    path: Path
    entries: int
    left_out: int
    error: str | None


class Fabric(FaultsByHand):
    """A network with nodes, in which any program runs; it is up inside a `with` block.

        with crosswind.Fabric(topology) as net:
            net.popen("server", ["python3", "-m", "http.server", "8000"])
            net.await_port("server", 8000)
            net.set({"link": [{"delay": {"time": "40ms"}}]})
            net.exec("client", ["curl", "-s", "http://server:8000"], check=True)
            net.partition("server | client")

    Programs run as the caller, with the caller's files and environment, and with the node's network, host
    name and processes. They find each other by the names of nodes. Everything is removed when the block ends
    or this process is killed. Where time is slowed down, it is so for them, too: all durations and instants
    here are perceived ones.

    Args:
        topology: as an experiment file has it under `topology`: a mapping. Or the content of a whole file,
            with `topology` as a key. Or a file for `crosswind up`, an experiment file, or the name of an
            experiment of the catalogue.
        conditions: more conditions, as an experiment file lists them: names of the catalogue, and mappings
            from a name to a condition. The first one is active from the beginning.
        condition: the name of the condition that is active from the beginning instead: one of these, of the
            topology's file or of the catalogue, or a file with one condition.
        dilation: how many times slower time passes in the nodes, 1 to 1000; as the file says when absent.
        seed: of everything that the network draws.
        record: a new file for a recording of all decisions, for `crosswind simulate`.
        capture: a new file for a capture of all packets (pcapng).
        snap: what is stored of every captured frame.
    Raises:
        SpecErrors: everything that is wrong with the topology or a condition.
        CrosswindError: a recording or a capture of several domains, or time cannot be slowed down by that.

    Attributes:
        conditions: names that `set` knows besides those of the catalogue.
        dilation: how many times slower time passes in the nodes; None where nothing slows it.
        graph: hosts, switches, links between them, and the host of each node.
        declared_domains: threads of the emulator that the topology asks for.
        recording, capture: these files, after the block; None without one.
    """

    def __init__(
        self,
        topology: Mapping[str, object] | str | os.PathLike[str],
        *,
        conditions: Sequence[str | Mapping[str, object]] = (),
        condition: str | None = None,
        dilation: int | None = None,
        seed: int = SEED,
        record: str | os.PathLike[str] | None = None,
        capture: str | os.PathLike[str] | None = None,
        snap: str = "128B",
    ) -> None:
        super().__init__()
        self._setup = _setup_of(topology)
        self.dilation = self._setup.dilation(dilation)
        self._files = _files_of(record, capture, snap)
        resolved = self._setup.resolved(seed, self.dilation)
        self.declared_domains = count_of(domains_of(resolved, 1))
        self._require_one_domain_for_files(str(topology) if not isinstance(topology, Mapping) else None)
        given = _conditions_of(self._setup, conditions)
        self._own = given | {own.name: own for own in resolved.conditions}
        first = condition or next(iter(self._own))
        active = carried_out(self._own.get(first) or self._setup.condition(first, self._own))
        # The emulator is divided once, so that every condition which may be set later is carried out.
        settable = resolved.under(*self._own.values(), active)
        auto = auto_domains_here(settable, is_written=bool(record or capture))
        spec = fabric_of(resolved.under(active), active.name, auto_domains=auto)
        # Nodes may be cut off by hand at any time.
        self._spec = spec.with_changes(faults=True)
        self._limits = limits_of(resolved)
        self.conditions = tuple(self._own)
        self.graph = Network.of(resolved.topology)
        self.recording: Written | None = None
        self.capture: Written | None = None
        self._stack: ExitStack | None = None
        self._fabric: RunningFabric | None = None
        self._agent: Agent | None = None
        self._stream: Stream[Event] | None = None

    def __enter__(self) -> Self:
        if self._stack is not None:
            raise CrosswindError("this network is up already; make another Fabric for a second one")
        with ExitStack() as stack:
            work = stack.enter_context(WorkFolder())
            self._agent = stack.enter_context(Agent())
            self._fabric = stack.enter_context(
                RunningFabric(self._agent, self._spec, work.path, self._files, self._limits)
            )
            stack.callback(self._programs.end, grace_of(self._fabric.time, _GRACE_S))
            stack.callback(self._end_stream)
            # A timeline counts from the start of a measurement.
            self._fabric.measure()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stack, fabric = self._stack, self._fabric
        assert stack is not None
        assert fabric is not None
        self._stack = self._fabric = self._agent = None
        stack.__exit__(kind, error, trace)
        path, recording = self._files.record, fabric.written.recording
        if path is not None and recording is not None:
            self.recording = Written(path, recording.records, recording.lost_records, recording.error)
        path, capture = self._files.capture, fabric.written.capture
        if path is not None and capture is not None:
            self.capture = Written(path, capture.packets, capture.left_out_packets, capture.error)

    @property
    def network(self) -> Mapping[str, JsonValue]:
        """Topology and scale as the file has them."""
        return self._setup.network

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The nodes by name, with `host`, `address` and `pid` (of its init); empty outside the block."""
        return {} if self._fabric is None else self._fabric.nodes

    @property
    def domains(self) -> int:
        """Threads of the emulator that carry the network; 0 outside the block."""
        return 0 if self._fabric is None else self._fabric.domains

    def address(self, node: str) -> str:
        """Return the IPv4 address of a node.

        Raises: CrosswindError: there is no such node, or the network is not up.
        """
        return self._node(node).address

    def set(self, condition: str | Mapping[str, object], name: str = "inline") -> int:
        """Change the condition, and begin a new measurement window, from which its timeline counts.

        Packets under way keep the treatment that they had.

        Args:
            condition: one of `conditions`, a name of the catalogue, a file with one condition; or a
                condition written out, such as `{"link": [{"delay": {"time": "40ms"}}]}`.
            name: of a condition that is written out.
        Returns: the instant from which it is active, in ns of CLOCK_MONOTONIC.
        Raises: SpecErrors: there is none of this name, or it does not fit this network.
        """
        if isinstance(condition, Mapping):
            resolved = self._setup.condition_in(document_of({name: condition}, name))
        else:
            resolved = self._own.get(condition) or self._setup.condition(condition, self._own)
        return self.apply(condition_for_agent(carried_out(resolved)))

    def apply(self, condition: FabricCondition) -> int:
        """As `set`, with a condition as the agent takes it (docs/reference/contracts.md, section 1)."""
        fabric = self._up()
        effective_ns = fabric.set(condition)
        fabric.measure()
        return effective_ns

    def exec(
        self,
        node: str,
        command: Sequence[str | os.PathLike[str]],
        *,
        input: str | None = None,
        check: bool = False,
        timeout: float | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a node to its end, and return its status and output, as `subprocess.run` does.

        Args:
            input: its standard input; empty when absent.
            check: raise where its exit status is not 0.
            timeout: end it after this time, in seconds that the node perceives.
            cwd, env: its folder and environment; those of this process when absent.
        Returns: `returncode` is 128 and the number of the signal that ended it, 126 where it cannot be
            executed, 127 where it does not exist, 3 where the node cannot be entered.
        Raises:
            CrosswindError: there is no such node, or the network is not up.
            subprocess.CalledProcessError, subprocess.TimeoutExpired: as `subprocess.run`.
        """
        return subprocess.run(
            self._in_node(node, command),
            input=input or "",
            capture_output=True,
            text=True,
            errors="replace",
            check=check,
            timeout=None if timeout is None else self._up().time.real_s(timeout),
            cwd=cwd,
            env=None if env is None else dict(env),
        )

    def popen(
        self,
        node: str,
        command: Sequence[str | os.PathLike[str]],
        *,
        stdin: int | IO[str] | None = subprocess.DEVNULL,
        stdout: int | IO[str] | None = None,
        stderr: int | IO[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start a command in a node, such as a server, and return at once; it ends with the block.

        Args:
            stdin, stdout, stderr: as `subprocess.Popen` has them; output goes where this process's goes.
            cwd, env: its folder and environment; those of this process when absent.
        Raises: CrosswindError: there is no such node, or the network is not up.
        """
        process = subprocess.Popen(
            self._in_node(node, command),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            errors="replace",
            cwd=cwd,
            env=None if env is None else dict(env),
        )
        self._programs.add(node, process)
        return process

    def await_port(self, node: str, port: int, timeout: float = 10.0) -> None:
        """Wait until a program in a node listens on a TCP port; no packet is sent for it.

        Args:
            timeout: at most, in seconds that the node perceives.
        Raises: TestbedError: no program listens in time, or all programs started on the node have ended.
        """
        pid = self._node(node).pid
        deadline = time.monotonic() + self._up().time.real_s(timeout)
        while not _listens(pid, port):
            ended = self._programs.statuses(node)
            if ended and None not in ended:
                raise TestbedError(
                    f"port {port} of {node}: no program listens, and what was started there has ended "
                    f"({', '.join(str(Ended.of(code)) for code in ended if code is not None)})"
                )
            if time.monotonic() > deadline:
                raise TestbedError(f"port {port} of {node}: no program listens after {timeout:g} s")
            time.sleep(PROBE_INTERVAL_S)

    def measure(self) -> int:
        """Begin a new measurement window; return its start, in ns of CLOCK_MONOTONIC."""
        return self._up().measure()

    def read(self) -> Reading:
        """Return what was measured since the window began: by `measure`, `set` or the start of the block."""
        return reading_of(self._up().read())

    def watch(self) -> Subscription[Step]:
        """Return what happens from now on: a `Step` for every 100 ms, until the block ends.

            with net.watch() as steps:
                for step in steps:
                    print(step.at_ns, sum(row.dropped_packets for row in step.rows))

        Any number of readers may watch. None of them slows the network: one that is too slow loses the oldest
        steps, and `lost` of what is returned counts them.
        """
        return cast("Subscription[Step]", self._events().subscribe(kinds=(Step,)))

    def events(self) -> Subscription[Event]:
        """As `watch`, with a `crosswind.stream.NodeFault` whenever a hand pauses, resumes or kills nodes."""
        return self._events().subscribe()

    def _events(self) -> Stream[Event]:
        self._up()
        if self._stream is None:
            assert self._agent is not None
            self._stream = Stream[Event]()
            self._agent.watch(self._stream.publish)
        return self._stream

    def _publish(self, fault: NodeFault) -> None:
        if self._stream is not None:
            self._stream.publish(fault)

    def check(self) -> None:
        """Raise where the network is gone: `AgentDied` or `FabricFault` with the reason."""
        self._up()
        assert self._agent is not None
        self._agent.check()

    def _up(self) -> RunningFabric:
        if self._fabric is None:
            raise CrosswindError("the network is not up; use it inside `with crosswind.Fabric(...) as net:`")
        return self._fabric

    def entered(self, node: str) -> None:
        """Note that a program starts in a node, also one of another process: it is killed no more.

        Raises: CrosswindError: there is no such node, or the network is not up.
        """
        self._node(node)
        self._revive(node)

    def _node(self, name: str) -> Node:
        nodes = self._up().nodes
        require_node(name, nodes)
        return nodes[name]

    def _in_node(self, node: str, command: Sequence[str | os.PathLike[str]]) -> list[str]:
        if isinstance(command, str) or not command:
            raise TypeError(f'command {command!r}: give a list of words, such as ["ping", "-c1", "server"]')
        self.entered(node)
        return [*words_to_enter(self._node(node).pid), *(os.fspath(word) for word in command)]

    def _end_stream(self) -> None:
        if self._stream is not None:
            self._stream.end()

    def _require_one_domain_for_files(self, source: str | None) -> None:
        files = {"record": self._files.record, "capture": self._files.capture}
        for option in (name for name, path in files.items() if path and self.declared_domains > 1):
            of = "" if source is None else f" of {source}"
            raise CrosswindError(
                f"{option}: needs one domain, and the topology{of} has {self.declared_domains}; "
                f"write domains: 1 there, or leave {option} out"
            )


def _setup_of(topology: Mapping[str, object] | str | os.PathLike[str]) -> Setup:
    if isinstance(topology, Mapping):
        content = topology if "topology" in topology else {"topology": topology}
        return setup_of(document_of(content, "fabric"))
    return load_setup(find_experiment(os.fspath(topology)))


def _conditions_of(
    setup: Setup, entries: Sequence[str | Mapping[str, object]]
) -> dict[str, ResolvedCondition]:
    """Return conditions by name, resolved for a network."""
    resolved = []
    for entry in entries:
        if isinstance(entry, str):
            resolved.append(setup.condition(entry))
        else:
            resolved += [setup.condition_in(document_of({name: own}, name)) for name, own in entry.items()]
    return {condition.name: condition for condition in resolved}


def _files_of(
    record: str | os.PathLike[str] | None, capture: str | os.PathLike[str] | None, snap: str
) -> FabricFiles:
    try:
        snap_bytes = SIZE.read_positive(snap)
    except QuantityError as error:
        raise CrosswindError(f"snap: {error}") from None
    return FabricFiles(
        record=None if record is None else Path(record),
        capture=None if capture is None else Path(capture),
        snap_bytes=snap_bytes,
    )


def _listens(pid: int, port: int) -> bool:
    """Return whether a socket of a node listens on a TCP port; the node's sockets are those of its init."""
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError):
            for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                _, local, _, state, *_ = line.split()
                if state == _LISTENING and int(local.rpartition(":")[2], 16) == port:
                    return True
    return False
