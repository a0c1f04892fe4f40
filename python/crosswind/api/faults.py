"""Faults by hand: nodes of a network that is up are cut off from each other, until that heals."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.spec import Setup
from crosswind.spec.faults.by_hand import FaultRefused, fault_by_hand
from crosswind.spec.resolved import Answer, ResolvedCut
from crosswind.testbed import RunningFabric


@dataclass(frozen=True)
class Cutting:
    """A cut by hand, in words, and the instant from which it holds, in ns of CLOCK_MONOTONIC."""

    words: str
    effective_ns: int


class FaultsByHand(ABC):
    """Cuts of a network that is up. They add up until `heal`, and stay when the condition changes."""

    _setup: Setup

    def __init__(self) -> None:
        self._cuts: list[ResolvedCut] = []
        self._cutting = threading.Lock()

    @abstractmethod
    def _up(self) -> RunningFabric:
        """Return the network that is up."""

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
        with self._cutting:
            if not self._cuts:
                raise FaultRefused(
                    "heal: no cut by hand is active; one of a timeline ends when another condition is set"
                )
            self._cuts = []
            return self._up().cut([])

    def fault(self, kind: str, value: JsonValue, answer: Answer = "silence") -> Cutting:
        """Cut nodes off as a step of a file would: `partition`, `isolate` or `cut`.

        Raises: FaultRefused: it would do nothing, or names what is not there.
        """
        step = fault_by_hand(self._setup, kind, value)
        cuts = [cut.model_copy(update={"answer": answer}) for cut in step.cuts or ()]
        with self._cutting:
            effective_ns = self._up().cut([*self._cuts, *cuts])
            self._cuts += cuts
        return Cutting(step.faults[0], effective_ns)
