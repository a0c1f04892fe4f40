"""Jain's index against the worked examples, and what makes it an index."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.stats import jain_index


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([1, 2, 3], 6 / 7), ([1, 0, 0, 0], 1 / 4), ([5], 1.0), ([1, 3], 0.8), ([3, 1], 0.8), ([2, 2], 1.0)],
)
def test_worked_examples(shares: list[float], expected: float) -> None:
    # (1 + 2 + 3)^2 / (3 (1 + 4 + 9)) = 36/42; (1 + 3)^2 / (2 (1 + 9)) = 16/20.
    assert jain_index(shares) == pytest.approx(expected, rel=1e-12)


def test_nothing_shared_is_undefined() -> None:
    assert math.isnan(jain_index([0.0, 0.0]))
    assert math.isnan(jain_index([]))


@given(st.lists(st.floats(1e-9, 1e15), min_size=1, max_size=60))
def test_it_lies_between_one_nth_and_one_whatever_the_unit(shares: list[float]) -> None:
    found = jain_index(shares)
    assert (1 / len(shares)) * (1 - 1e-9) <= found <= 1 + 1e-9
    assert jain_index([share * 8e200 for share in shares]) == pytest.approx(found, rel=1e-9)
