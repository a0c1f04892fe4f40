"""Faults by hand: nodes of a network that is up are cut off, stand still, or lose all programs."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from crosswind.api.programs import Programs
from crosswind.errors import CrosswindError
from crosswind.spec import Setup
from crosswind.spec.faults.by_hand import FaultRefused, fault_by_hand
from crosswind.spec.quantities import shown
from crosswind.spec.resolved import Answer, ResolvedCut
from crosswind.stream import NodeFault
from crosswind.testbed import RunningFabric
from crosswind.testbed.fabric import Strike

HandFault = Literal["partition", "isolate", "cut", "pause", "resume", "kill", "restart"]


@dataclass(frozen=True)
class DoneByHand:
    """A fault by hand, in words, and the instant from which it holds, in ns of CLOCK_MONOTONIC."""

    words: str
    effective_ns: int


class FaultsByHand(ABC):
    """Faults of a network that is up. Cuts add up until `heal`, and stay when the condition changes."""

    _setup: Setup

    def __init__(self) -> None:
        self._cuts: list[ResolvedCut] = []
        self._paused: set[str] = set()
        self._dead: set[str] = set()
        self._programs = Programs()
        self._acting = threading.Lock()

    @abstractmethod
    def _up(self) -> RunningFabric:
        """Return the network that is up."""

    @abstractmethod
    def _publish(self, fault: NodeFault) -> None:
        """Let everybody who reads events know of a fault."""

    def partition(self, groups: str | Sequence[Sequence[str]], answer: Answer = "silence") -> int:
        """Let no packet cross between groups of nodes, such as `db0 db1 | db2`; a node in none reaches all.

        Args:
            groups: names of nodes, hosts, switches or zones.
            answer: what senders learn: nothing (`silence`), or a TCP reset (`reset`).

        Returns: the instant from which it holds, in ns of CLOCK_MONOTONIC. Packets under way are lost.

        Raises: FaultRefused: a name is unknown, or a node is named twice.
        """
        written: JsonValue = (
            groups if isinstance(groups, str) else {"groups": [list(group) for group in groups]}
        )
        return self.fault("partition", written, answer).effective_ns

    def isolate(self, nodes: str | Sequence[str], answer: Answer = "silence") -> int:
        """Cut each of these nodes off from all others, both ways; the rest is as for `partition`."""
        written: JsonValue = nodes if isinstance(nodes, str) else list(nodes)
        return self.fault("isolate", written, answer).effective_ns

    def cut(self, ends: str, answer: Answer = "silence") -> int:
        """Cut nodes off one way, such as `db0 db1 -> db2`; the rest is as for `partition`."""
        return self.fault("cut", ends, answer).effective_ns

    def heal(self) -> int:
        """End all cuts by hand; return the instant, in ns of CLOCK_MONOTONIC. Those of a timeline stay.

        Raises: FaultRefused: no hand has cut anything.
        """
        with self._acting:
            if not self._cuts:
                raise FaultRefused(
                    "heal: no cut by hand is active; one of a timeline ends when another condition is set"
                )
            self._cuts = []
            return self._up().cut([])

    def pause(self, nodes: str | Sequence[str]) -> int:
        """Let every process of nodes stand still (SIGSTOP), until `resume`.

        Returns: when the last process had it, in ns of CLOCK_MONOTONIC.

        Raises: FaultRefused: a name is unknown.
        """
        return self._strike("pause", nodes)

    def resume(self, nodes: str | Sequence[str]) -> int:
        """Let paused nodes go on; the rest is as for `pause`. One that is not paused is refused."""
        return self._strike("resume", nodes)

    def kill(self, nodes: str | Sequence[str]) -> int:
        """End every process of nodes at once (SIGKILL); the rest is as for `pause`."""
        return self._strike("kill", nodes)

    def restart(self, nodes: str | Sequence[str]) -> int:
        """Kill nodes, and start again what ran there, or had run when they were killed.

        That is what `exec`, `popen` and `crosswind exec` have started, with the same words, folders and
        environments. Outputs are added to the same files; input is empty.

        Returns: when all was started, in ns of CLOCK_MONOTONIC.

        Raises: FaultRefused: a name is unknown, or nothing was started on a node.
        """
        return self._strike("restart", nodes)

    def _strike(self, strike: Literal[Strike, "restart"], nodes: str | Sequence[str]) -> int:
        return self.fault(strike, nodes if isinstance(nodes, str) else list(nodes)).effective_ns

    def fault(self, kind: HandFault, value: JsonValue, answer: Answer = "silence") -> DoneByHand:
        """Do to nodes what a step of a file would do.

        Args:
            kind: `partition`, `isolate`, `cut`, `pause`, `resume`, `kill` or `restart`.
            value: as the step has it.
            answer: of a cut.

        Raises: FaultRefused: it would do nothing, or names what is not there.
        """
        step = fault_by_hand(self._setup, kind, value)
        cuts = [cut.model_copy(update={"answer": answer}) for cut in step.cuts or ()]
        nodes = [fault.node for fault in step.nodes]
        with self._acting:
            match kind:
                case "pause" | "resume" | "kill" | "restart":
                    asked_ns = self._up().now_ns()
                    effective_ns = self._hit(kind, nodes)
                    self._note(kind, nodes, step.faults[0], effective_ns, asked_ns)
                case _:
                    effective_ns = self._up().cut([*self._cuts, *cuts])
                    self._cuts += cuts
        return DoneByHand(step.faults[0], effective_ns)

    def _hit(self, kind: Literal[Strike, "restart"], nodes: Sequence[str]) -> int:
        """Do something to nodes; return when it was done."""
        fabric = self._up()
        if kind == "resume" and (going := [node for node in nodes if node not in self._paused]):
            raise FaultRefused(f"resume names {shown(going[0])}, which is not paused")
        if kind in ("pause", "resume"):
            return fabric.strike(kind, nodes)
        inits = {node: fabric.nodes[node].pid for node in nodes}
        idle = [node for node, init in inits.items() if not self._programs.remember(node, init)]
        if kind == "restart" and idle:
            raise FaultRefused(
                f"restart names {shown(idle[0])}, where nothing runs that crosswind exec has started, or ran "
                f"when it was killed; start it: crosswind exec {idle[0]} -- CMD"
            )
        killed_ns = fabric.strike("kill", nodes)
        if kind == "kill":
            return killed_ns
        try:
            for node, init in inits.items():
                self._programs.start_again(node, init)
        except CrosswindError:
            self._note("kill", nodes, f"kill {' '.join(nodes)}", killed_ns, killed_ns)
            raise
        return fabric.now_ns()

    def _revive(self, node: str) -> None:
        """Note that a program starts in a node, which is then killed no more."""
        with self._acting:
            if node in self._dead:
                now_ns = self._up().now_ns()
                self._note("restart", [node], f"exec {node}", now_ns, now_ns)

    def _note(
        self, kind: Literal[Strike, "restart"], nodes: Sequence[str], words: str, at_ns: int, due_ns: int
    ) -> None:
        self._paused = self._paused.union(nodes) if kind == "pause" else self._paused.difference(nodes)
        if kind in ("kill", "restart"):
            self._dead = self._dead.union(nodes) if kind == "kill" else self._dead.difference(nodes)
        self._publish(
            NodeFault(at_ns=at_ns, due_ns=due_ns, kind=kind, nodes=tuple(nodes), words=words, by="hand")
        )
