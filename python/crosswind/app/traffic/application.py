"""Traffic among all nodes: a `crosswind-load traffic-serve` on each, and one `traffic` that controls them."""

from collections.abc import Collection, Iterator
from pathlib import Path

from crosswind.app.base import Application, Load, LoadOutcome, Stage
from crosswind.app.load import TAIL_S, UNBOUNDED_S, WINDOW_LEAD_S, await_listening, latency_figures, seconds
from crosswind.app.requirements import OwnProgram
from crosswind.app.server import stop_servers
from crosswind.app.streams import FAIRNESS, GOODPUT
from crosswind.app.traffic.parameters import NS_PER_S, TrafficParameters
from crosswind.app.traffic.relay import Relay, clock_line
from crosswind.app.traffic.summary import TrafficSummary, metrics_of
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Fabric, Process

PORT = 7078
# Prefix of neighbour nodes, on which the runner makes real interference; they take no part.
NEIGHBOUR = "noise-"
# For connecting all nodes, even if many SYNs are lost, and for the announcement of the start.
BEGIN_S = 60.0


class Traffic(Application):
    """Traffic among all nodes of the topology, in its order."""

    name = "traffic"
    summary = "bulk, requests, ping-pong among many nodes: pairs, one to many, incast, shuffle, ring"
    Parameters = TrafficParameters
    set_up_s = 1.0
    requirements = (OwnProgram(LOAD),)
    parameters: TrafficParameters

    def __init__(self, parameters: TrafficParameters) -> None:
        super().__init__(parameters)
        self._servers: dict[str, Process] = {}
        self._relays: list[Relay] = []

    def figures(self) -> tuple[Figure, ...]:
        asked = self.parameters
        if asked.count is not None:
            return (Figure("completion", "max", "ns", "completion", "lower"), GOODPUT, FAIRNESS)
        if asked.has_messages:
            return (*latency_figures(asked.rate), GOODPUT)
        return (GOODPUT, FAIRNESS, Figure("retransmits", "count", "count", "retransmits", "lower"))

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        # Nodes may have any names; `misfits` checks their number.
        return []

    @classmethod
    def misfits(
        cls, parameters: TrafficParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if len(nodes) < 2:
            yield (), f"needs at least two nodes, and the topology has {len(nodes)}; add nodes"
        elif parameters.pattern == "pairs" and len(nodes) % 2:
            yield (
                ("pattern",),
                f"is pairs, but the number of nodes, {len(nodes)}, is odd; add or remove a node",
            )

    @classmethod
    def faults_on(cls, parameters: TrafficParameters, nodes: Collection[str]) -> FaultNodes:
        # Every node sends, and stores what it received.
        return FaultNodes(measuring=frozenset(nodes))

    def start(self, stage: Stage) -> None:
        self._servers = {}
        for name, node in stage.fabric.nodes.items():
            if not name.startswith(NEIGHBOUR):
                # The path is relative to the folder: paths of Unix sockets have at most 108 bytes.
                where = ["--listen", f"{node.address}:{PORT}", "--control", f"{name}.sock"]
                self._servers[name] = stage.fabric.start(
                    name, "traffic-serve", [find_binary(LOAD), "traffic-serve", *where], cwd=stage.folder
                )
        for server in self._servers.values():
            await_listening(server)

    def load(self, stage: Stage) -> Load:
        asked = self.parameters
        samples, summary = stage.folder / "samples.csv", stage.folder / "summary.json"
        command: list[object] = [
            *(find_binary(LOAD), "traffic", "--pattern", asked.pattern, "--connections", asked.connections),
            *(word for name in self._servers for word in ("--node", f"{name}={name}.sock")),
            *(("--size", asked.message) if asked.message is not None else ()),
            *("--write-bytes", asked.write_bytes),
            *(("--answer", "same") if asked.exchange == "ping-pong" else ()),
            *(("--answer", asked.response) if asked.response is not None else ()),
            *(("--count", asked.count) if asked.count is not None else ()),
            *(("--duration", seconds(asked.duration_ns)) if asked.duration_ns is not None else ()),
            *("--warm-up", seconds(asked.warm_up_ns), "--part", seconds(asked.part_ns)),
            *(("--rate", f"{asked.rate:g}") if asked.rate is not None else ()),
            *(
                ("--congestion-control", ",".join(asked.congestion_control))
                if asked.congestion_control
                else ()
            ),
            *("--seed", stage.seed, "--samples", samples, "--summary", summary),
        ]
        # It may run on any node: it controls the others through the file system, and those on other machines
        # through relays.
        fabric, node = stage.fabric, next(iter(self._servers))
        elsewhere = [name for name in self._servers if fabric.machine_of(name) != fabric.machine_of(node)]
        for name in elsewhere:
            self._relays.append(Relay(stage, node, name))
            line = clock_line(fabric.clock_of(node), fabric.clock_of(name), fabric.now_ns())
            command += ["--clock", f"{name}={line}"]
        process = fabric.start(node, "traffic", command, cwd=stage.folder)
        return _TrafficLoad(process, asked, samples, summary, fabric)

    def stop(self, stage: Stage) -> None:
        servers, self._servers = list(self._servers.values()), {}
        relays, self._relays = self._relays, []
        for relay in relays:
            relay.end()
        stop_servers(stage, servers)
        for relay in relays:
            relay.check()


class _TrafficLoad(Load):
    def __init__(
        self, process: Process, asked: TrafficParameters, samples: Path, summary: Path, fabric: Fabric
    ) -> None:
        measured_s = UNBOUNDED_S if asked.duration_ns is None else asked.duration_ns / NS_PER_S
        self.process = process
        self.longest_s = BEGIN_S + asked.warm_up_ns / NS_PER_S + measured_s + TAIL_S
        self._asked = asked
        self._samples = samples
        self._summary = summary
        self._fabric = fabric

    def await_measured_phase(self) -> None:
        deadline_s = self.process.now_s() + BEGIN_S
        while (begins_ns := self._begins_ns()) is None and self.process.now_s() < deadline_s:
            if self.process.wait(0.01) is not None:
                return
        if begins_ns is not None:
            here_ns = self._fabric.clock_of(self.process.node).here(begins_ns)
            opens_s = (here_ns + self._asked.warm_up_ns - self._fabric.now_ns()) / NS_PER_S
            lead_s = WINDOW_LEAD_S + self._fabric.measure_takes_s
            self.process.wait(max(0.0, opens_s - lead_s))

    def outcome(self) -> LoadOutcome:
        summary = TrafficSummary.model_validate_json(self.process.wrote(self._summary).read_bytes())
        operations = self.process.wrote(self._samples) if self._asked.has_messages else None
        return LoadOutcome(operations, tuple(metrics_of(summary)), summary)

    def _begins_ns(self) -> int | None:
        """Return the start that `traffic` has announced, CLOCK_MONOTONIC."""
        words = self.process.printed().split()
        return int(words[1]) if len(words) == 2 and words[0] == "begins" else None
