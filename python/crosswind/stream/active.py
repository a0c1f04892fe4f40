"""What is active in a network: its condition, steps of the timeline so far, cuts by hand, faults of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crosswind.spec.resolved import NodeFaultKind, ResolvedCut
from crosswind.stream.events import Change, NodeFault

# Which faults of nodes last, and what ends them.
_LASTING: tuple[NodeFaultKind, ...] = ("pause", "kill", "squeeze", "disk")
_ENDED_BY: Mapping[NodeFaultKind, tuple[NodeFaultKind, ...]] = {
    "pause": ("pause",),
    "resume": ("pause",),
    "kill": ("kill", "pause"),
    "restart": ("kill", "pause"),
    "squeeze": ("squeeze",),
    "disk": ("disk",),
    "release": ("squeeze", "disk"),
}


def active_after(active: Sequence[Change], change: Change) -> list[Change]:
    """Return the changes that are active after another one, in the order in which they came."""
    if change.by == "cut":
        kept = [earlier for earlier in active if earlier.by != "cut"]
        return [*kept, change] if change.cuts else kept
    # Nodes that a hand cut off stay so under every condition.
    kept = [earlier for earlier in active if change.by == "timeline" or earlier.by == "cut"]
    return [*kept, change]


def active_cuts(active: Sequence[Change]) -> Iterator[tuple[str, ResolvedCut]]:
    """Yield who cut nodes off, `timeline` or `cut` by hand, with each cut that is active."""
    for by in ("timeline", "cut"):
        stated = [
            change.cuts
            for change in active
            if (change.by == "cut") == (by == "cut") and change.cuts is not None
        ]
        yield from ((by, cut) for cut in (stated[-1] if stated else []))


def faults_after(active: Sequence[NodeFault], fault: NodeFault) -> list[NodeFault]:
    """Return the faults of nodes that last after another one, each with the nodes for which it still does."""
    left = [
        earlier.model_copy(update={"nodes": tuple(node for node in earlier.nodes if node not in fault.nodes)})
        if earlier.kind in _ENDED_BY[fault.kind]
        else earlier
        for earlier in active
    ]
    kept = [earlier for earlier in left if earlier.nodes]
    return [*kept, fault] if fault.kind in _LASTING else kept
