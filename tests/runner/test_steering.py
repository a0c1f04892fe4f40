"""A hand moves the trial that runs, and only while its load runs; what it did is noted in words."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from crosswind.errors import CrosswindError
from crosswind.runner import Steering
from crosswind.runner.budgets import Budgets
from crosswind.spec import FabricCondition
from crosswind.stream import Event, Stream, TrialMoved
from crosswind.testbed import RunningFabric

SECOND = 1_000_000_000
BY_HAND = FabricCondition(name="by-hand")


class Fabric:
    """Stands in for a fabric whose changes become active at the instants of a list."""

    def __init__(self, *instants_ns: int) -> None:
        self._instants_ns = iter(instants_ns)

    def set(self, condition: FabricCondition) -> int:
        return next(self._instants_ns)

    def read(self) -> None:
        raise AssertionError("the content of a bucket was asked for")


def fabric(*instants_ns: int) -> RunningFabric:
    return cast(RunningFabric, Fabric(*instants_ns))


def test_no_move_is_taken_but_while_the_load_of_a_trial_runs() -> None:
    steering = Steering(Stream[Event]())
    steering.begin("t1")
    with pytest.raises(CrosswindError, match="no trial can be steered now"):
        steering.set(BY_HAND, "loss", "loss")
    with steering.opened(fabric(2 * SECOND), "slow", SECOND):
        assert steering.set(BY_HAND, "loss", "loss") == 2 * SECOND
    with pytest.raises(CrosswindError, match="no trial can be steered now"):
        steering.set(BY_HAND, "loss", "loss")
    assert [move.words for move in steering.moves] == ["loss"]


def test_what_was_moved_is_told_with_the_first_move_its_instant_and_the_number() -> None:
    stream = Stream[Event]()
    events = stream.subscribe()
    steering = Steering(stream)
    steering.begin("t1")
    # A slider is dragged for a second and a half, and so is another one in between.
    instants = [round(at_s * SECOND) for at_s in (2, 2.5, 3.4, 3.5, 5)]
    with steering.opened(fabric(*instants), "slow", SECOND):
        for words, of in (("delay: 1", 1), ("delay: 2", 1), ("delay: 3", 1), ("loss: 1", 2), ("delay: 9", 1)):
            steering.set(BY_HAND, words, of)
    assert [(move.at_ns, move.last_ns, move.words) for move in steering.moves] == [
        (2 * SECOND, 3_400_000_000, "delay: 3"),
        (3_500_000_000, 3_500_000_000, "loss: 1"),
        (5 * SECOND, 5 * SECOND, "delay: 9"),
    ]
    assert steering.explored() == "explored by hand: 3 moves, the first 1.00 s after the start (delay: 3)"
    assert steering.explored(start_ns=3 * SECOND).endswith("the first 1.00 s before the start (delay: 3)")
    stream.end()
    assert [(event.trial, event.words) for event in events if isinstance(event, TrialMoved)] == [
        ("t1", "delay: 1"),
        ("t1", "loss: 1"),
        ("t1", "delay: 9"),
    ]


def test_the_next_attempt_begins_unmoved() -> None:
    steering = Steering(Stream[Event]())
    steering.begin("t1")
    with steering.opened(fabric(2), "slow", 1):
        steering.set(BY_HAND, "loss", "loss")
    assert steering.explored().startswith("explored by hand: 1 move 0.00 s after the start (loss)")
    steering.begin("t1-a2")
    assert (steering.moves, steering.explored()) == ((), "")


def test_a_bucket_keeps_what_it_had_before_an_attempt_that_a_hand_explored(tmp_path: Path) -> None:
    steering, budgets = Steering(Stream[Event]()), Budgets(tmp_path / "budgets.json")
    steering.begin("t1")
    own = fabric(2)
    with budgets.followed("slow", own, steering), steering.opened(own, "slow", 1):
        steering.set(BY_HAND, "loss", "loss")
    assert not (tmp_path / "budgets.json").exists()
