"""Faults that were carried out in a measurement."""

from __future__ import annotations

from typing import Literal, get_args

from crosswind.results.part import StoredPart
from crosswind.spec.resolved import NodeFaultKind

_OF_NODES: tuple[NodeFaultKind, ...] = get_args(NodeFaultKind)


class Fault(StoredPart):
    """A fault, or the end of one.

    Attributes:
        due_ns, done_ns: when it was due and when it was done; `done_ns` is `due_ns` where it was not done.
        words: as shown: `partition db0 | db1`, `kill db0`, `heal`.
        kind: its first word, as in a file: `partition`, `isolate`, `cut`, `heal`, `pause`, `resume`, `kill`,
            `restart`, `squeeze`, `disk` or `release`.
        nodes: whose packets were cut, or that were hit.
        by: the experiment's timeline, or a hand.
        error: why it was not done; None where it was.
    """

    due_ns: int
    done_ns: int
    words: str
    kind: str
    nodes: list[str]
    by: Literal["timeline", "hand"] = "timeline"
    error: str | None = None

    @property
    def of_nodes(self) -> NodeFaultKind | None:
        """Its kind where nodes were hit; None where packets were cut, or a cut ended."""
        return next((kind for kind in _OF_NODES if kind == self.kind), None)
