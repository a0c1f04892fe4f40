"""Which changes of a network are active after others have come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from crosswind.spec.resolved import ResolvedCut
from crosswind.stream import Change, active_after, active_cuts

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
