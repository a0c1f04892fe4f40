"""How long validators take to agree, by the delays between them alone."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bench.judges.votes import agreements, fastest, quorum


def test_a_quorum_is_more_than_two_thirds() -> None:
    assert [quorum(count) for count in (1, 3, 4, 6, 7, 13)] == [1, 3, 3, 5, 5, 9]


def test_equal_delays_are_waited_for_three_times() -> None:
    # A proposal, a vote, and a vote again.
    delay = [[0.0 if one == other else 10.0 for other in range(4)] for one in range(4)]
    assert agreements(delay, range(4)) == [30.0] * 4


def test_votes_of_the_slowest_are_not_waited_for() -> None:
    # 3 of 4 are enough: the fourth is far away, and gets the block only.
    delay = [[0.0 if one == other else 10.0 for other in range(4)] for one in range(4)]
    for near in range(3):
        delay[near][3] = delay[3][near] = 500.0
    # Proposed by one of the near ones and committed by another: 10 for the proposal, and two rounds of votes.
    assert agreements(delay, [0, 1, 2, 3])[0] == 30.0
    # The far one proposes: 500 to the others, then as before.
    assert agreements(delay, [3, 0, 1, 2])[0] == 520.0


def test_messages_take_the_fastest_way() -> None:
    delay = [[0.0, 100.0, 10.0], [100.0, 0.0, 10.0], [10.0, 10.0, 0.0]]
    assert fastest(delay) == [[0.0, 20.0, 10.0], [20.0, 0.0, 10.0], [10.0, 10.0, 0.0]]


def test_more_delay_is_never_faster() -> None:
    delay = [[0.0 if one == other else 5.0 + one * other for other in range(7)] for one in range(7)]
    sums = [sum(agreements([[cell * by for cell in row] for row in delay], range(7))) for by in (1, 2, 4)]
    assert [later / earlier for earlier, later in pairwise(sums)] == pytest.approx([2, 2])
