"""Which changes and faults of a network are active after others have come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from crosswind.spec.resolved import NodeFaultKind, ResolvedCut
from crosswind.stream import Change, NodeFault, active_after, active_cuts, faults_after

By = Literal["up", "set", "timeline", "cut"]


def change(by: By, at_ns: int, cuts: list[ResolvedCut] | None = None) -> Change:
    return Change(at_ns=at_ns, asked_ns=at_ns, by=by, condition="c", places={}, cuts=cuts)


def cut(source: str) -> ResolvedCut:
    return ResolvedCut(sources=[source], targets=["z"])


def after(changes: Sequence[Change]) -> list[Change]:
    active: list[Change] = []
    for each in changes:
        active = active_after(active, each)
    return active


def test_a_condition_ends_the_one_before_with_its_timeline_and_leaves_cuts_by_hand() -> None:
    by_hand = change("cut", 3, [cut("b")])
    changes = [change("up", 1), change("timeline", 2, [cut("a")]), by_hand]
    assert list(active_cuts(after(changes))) == [("timeline", cut("a")), ("cut", cut("b"))]
    other = change("set", 4, [])
    assert after([*changes, other]) == [by_hand, other]
    assert list(active_cuts(after([*changes, other]))) == [("cut", cut("b"))]


def test_a_step_without_cuts_leaves_those_before_and_a_heal_ends_them() -> None:
    changes = [change("up", 1), change("timeline", 2, [cut("a")]), change("timeline", 3)]
    assert list(active_cuts(after(changes))) == [("timeline", cut("a"))]
    assert list(active_cuts(after([*changes, change("timeline", 4, [])]))) == []


def test_cuts_by_hand_replace_those_before() -> None:
    changes = [change("up", 1), change("cut", 2, [cut("a")]), change("cut", 3, [cut("b"), cut("c")])]
    assert list(active_cuts(after(changes))) == [("cut", cut("b")), ("cut", cut("c"))]
    assert after([*changes, change("cut", 4, [])]) == [changes[0]]


def lasting(*done: tuple[NodeFaultKind, str]) -> list[tuple[str, str]]:
    """Return kinds and nodes of the faults that last after some, each of nodes with a blank between."""
    active: list[NodeFault] = []
    for at_ns, (kind, nodes) in enumerate(done):
        words = f"{kind} {nodes}"
        hit = NodeFault(
            at_ns=at_ns, due_ns=at_ns, kind=kind, nodes=tuple(nodes.split()), words=words, by="hand"
        )
        active = faults_after(active, hit)
    return [(fault.kind, " ".join(fault.nodes)) for fault in active]


def test_a_fault_of_nodes_lasts_until_each_of_them_is_back() -> None:
    assert lasting(("pause", "a b"), ("squeeze", "a")) == [("pause", "a b"), ("squeeze", "a")]
    assert lasting(("pause", "a b"), ("squeeze", "a"), ("resume", "a")) == [("pause", "b"), ("squeeze", "a")]
    assert lasting(("pause", "a"), ("squeeze", "a"), ("release", "a")) == [("pause", "a")]
    assert lasting(("kill", "a b"), ("restart", "b"), ("restart", "a")) == []


def test_a_kill_ends_a_pause_and_leaves_a_squeeze() -> None:
    assert lasting(("pause", "a"), ("squeeze", "a"), ("kill", "a")) == [("squeeze", "a"), ("kill", "a")]
    assert lasting(("pause", "a"), ("restart", "a")) == []
    assert lasting(("squeeze", "a"), ("squeeze", "a")) == [("squeeze", "a")]


def test_a_release_ends_a_squeeze_and_a_bad_disk() -> None:
    assert lasting(("disk", "a b"), ("squeeze", "a"), ("release", "a")) == [("disk", "b")]
    assert lasting(("disk", "a"), ("kill", "a"), ("restart", "a")) == [("disk", "a")]
