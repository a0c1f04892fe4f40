"""The split against all splits computed one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.fingerprint.bucket.two_levels import two_levels

VALUES = st.lists(st.integers(0, 20), min_size=2, max_size=40)


def cost(values: list[int]) -> float:
    return float(np.abs(np.array(values) - np.median(values)).sum())


@given(VALUES)
def test_no_other_split_is_better_and_no_earlier_one_as_good(values: list[int]) -> None:
    costs = [cost(values[:index]) + cost(values[index:]) for index in range(1, len(values))]
    found = two_levels(values)
    assert found.index == int(np.argmin(np.round(costs, 9))) + 1
    assert (found.first, found.second) == (np.median(values[: found.index]), np.median(values[found.index :]))
    whole = cost(values)
    assert found.explained == pytest.approx(1 - min(costs) / whole if whole else 0)


def test_one_value_has_no_two_levels() -> None:
    with pytest.raises(ValueError, match="two are needed"):
        two_levels([1.0])
