"""Faults of a resolved condition: what is cut between nodes, and what happens to nodes themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from crosswind.spec.resolved.part import ResolvedPart, left_out_if_empty
from crosswind.spec.resolved.topology import RequestedLimits

# What a sender sees of a cut: nothing at all, or a TCP reset, as of a firewall that rejects.
Answer = Literal["silence", "reset"]
NodeFaultKind = Literal["pause", "resume", "kill", "restart", "squeeze", "disk", "release"]


class ResolvedCut(ResolvedPart):
    """No packet goes from a source to a target, for each ordered pair of two different nodes."""

    sources: list[str] = Field(alias="from")
    targets: list[str] = Field(alias="to")
    answer: Answer = left_out_if_empty("silence")

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the ordered pairs of nodes that are cut."""
        yield from ((a, b) for a in self.sources for b in self.targets if a != b)


class ResolvedClock(ResolvedPart):
    """The clock of a node that is restarted.

    Attributes:
        offset_ns: how far its wall clock is ahead of the other nodes' at the restart; negative is behind.
            Clocks that count from a start are not off.
        rate_ppb: how fast all of its clocks run, in parts per billion of the right speed.
    """

    offset_ns: int = 0
    rate_ppb: int = 10**9


class ResolvedDisk(ResolvedPart):
    """What is left of the disk of a node.

    Attributes:
        free_bytes: left free at the instant of the fault; None: all.
        bytes_per_s: that the node reads, and that it writes, at most; None: as fast as the machine's.
    """

    free_bytes: int | None = left_out_if_empty(None)
    bytes_per_s: int | None = left_out_if_empty(None)


class ResolvedNodeFault(ResolvedPart):
    """What happens to one node, and to every process in it.

    Attributes:
        clock: of a restart; None: the right time.
        limits: of a squeeze, as the agent takes them.
        disk: of a disk that becomes full or slow.
    """

    do: NodeFaultKind
    node: str
    clock: ResolvedClock | None = left_out_if_empty(None)
    limits: RequestedLimits | None = left_out_if_empty(None)
    disk: ResolvedDisk | None = left_out_if_empty(None)
