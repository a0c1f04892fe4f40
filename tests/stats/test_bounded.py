"""Estimates with intervals, set side by side; expected values are derived beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from crosswind.stats import (
    Bounded,
    Refused,
    alike,
    batch_mean,
    difference_of,
    ratio_of,
    share_interval,
    student_mean,
)


def test_independent_errors_add_up_in_squares_each_on_its_side() -> None:
    # Up: the other may be 3 higher and the base 4 lower, 5 together; down: 5 and 12, 13 together.
    found = difference_of(Bounded(10, 6, 22), Bounded(30, 25, 33))
    assert (found.value, found.low, found.high) == (20, 20 - 13, 20 + 5)


def test_a_ratio_turns_round_with_its_sides() -> None:
    one, other = Bounded(10, 9, 12), Bounded(20, 19, 20.5)
    found, turned = ratio_of(one, other), ratio_of(other, one)
    assert found.value == pytest.approx(2)
    assert (1 / turned.high, 1 / turned.low) == pytest.approx((found.low, found.high))
    with pytest.raises(Refused, match="take the difference"):
        ratio_of(Bounded(1, 0, 2), other)


def test_an_unknown_bound_leaves_the_difference_unknown_on_its_side() -> None:
    found = difference_of(Bounded(1, 0, 2), Bounded(5, 4, math.inf))
    assert found.high == math.inf
    assert found.low > 0


def test_the_mean_of_a_likely_series_is_covered() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        noise = random.normal(size=200)
        series = 10 + np.convolve(noise, [1, 0.6, 0.3], mode="valid")  # neighbours alike over three
        found = batch_mean(series)
        assert found is not None
        held += found.low <= 10 <= found.high
    # 95 % of 400 less what likeness over the borders takes; sd of the count is 4.4.
    assert 360 <= held <= 395
    assert batch_mean(range(9)) is None


def test_shares_have_the_exact_interval() -> None:
    # Of none in 400 the upper bound is what 400 cases miss with a chance of 2.5 %: 1 - 0.025 ** (1 / 400).
    none = share_interval(0, 400)
    assert (none.low, none.high) == (0, pytest.approx(1 - 0.025 ** (1 / 400)))
    assert share_interval(400, 400).high == 1
    # Clopper and Pearson's 95 % interval of 2 in 10, as tables have it.
    some = share_interval(2, 10)
    assert (some.low, some.high) == pytest.approx((0.0252, 0.5561), abs=1e-4)
    with pytest.raises(Refused):
        share_interval(3, 2)


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((-1, 1), "same"),
        ((-2, 2), "same"),
        ((1, 3), "undecided"),
        ((2.1, 3), "different"),
        ((-9, -3), "different"),
    ],
)
def test_the_whole_interval_decides(interval: tuple[float, float], verdict: str) -> None:
    assert alike(*interval, -2, 2) == verdict


def test_the_mean_of_a_few_values_has_students_interval() -> None:
    # 1, 2, 3: a deviation of 1, and 4.3027 of it over the root of 3 to either side (two degrees of freedom).
    found = student_mean([1.0, 2.0, 3.0])
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((2, 2 - 2.4841, 2 + 2.4841), abs=1e-4)
    assert student_mean([1.0]) is None
