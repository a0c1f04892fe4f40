"""Rounds in which machines meet: every pair once, nobody twice at once, no round too many."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from crosswind.fingerprint.between.schedule import schedule

NAMES = st.lists(st.text("abcdef01", min_size=1, max_size=4), max_size=40, unique=True)


@given(NAMES)
def test_every_pair_meets_once_and_nobody_is_in_two_meetings_of_a_round(names: list[str]) -> None:
    rounds = schedule(names)
    met = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert sorted(map(sorted, met)) == sorted(sorted(pair) for pair in combinations(names, 2))
    for pairs in rounds:
        busy = [name for pair in pairs for name in pair]
        assert len(set(busy)) == len(busy)


@given(NAMES)
def test_there_are_as_few_rounds_as_can_be(names: list[str]) -> None:
    # A machine meets all others, one a round; of an odd number one rests in each round, and each rests once.
    count = len(names)
    assert len(schedule(names)) == (0 if count < 2 else count - 1 + count % 2)


@given(NAMES)
def test_in_a_pair_the_order_is_that_of_the_file(names: list[str]) -> None:
    for pairs in schedule(names):
        assert all(names.index(near) < names.index(far) for near, far in pairs)
