"""Which changes of a network are active: its condition, steps of the timeline so far, and cuts by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crosswind.spec.resolved import ResolvedCut
from crosswind.stream.events import Change


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
