"""Equivalence within a margin: known answers, symmetry, and its error rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crosswind.stats import tost_paired


def test_a_worked_example() -> None:
    # Differences 1, 2, 3: mean 2, standard error 1/sqrt 3. With t(0.95, 2) = 2.919986 the interval is
    # 2 +- 1.685855.
    result = tost_paired([0, 0, 0], [1, 2, 3], margin=4)
    assert (result.difference, result.low, result.high) == pytest.approx((2, 0.314145, 3.685855), abs=1e-6)
    assert result.shown
    assert not tost_paired([0, 0, 0], [1, 2, 3], margin=3.6).shown


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=20), st.floats(0.1, 9))
def test_it_is_shown_exactly_where_the_interval_lies_within_the_margin(
    pairs: list[tuple[float, float]], margin: float
) -> None:
    a, b = zip(*pairs, strict=True)
    result, swapped = tost_paired(a, b, margin), tost_paired(b, a, margin)
    if min(abs(result.low + margin), abs(result.high - margin)) > 1e-9:
        assert result.shown == (-margin < result.low and result.high < margin)
    assert swapped.p == pytest.approx(result.p, abs=1e-9)


def test_p_is_the_larger_of_scipys_two_one_sided_tests() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 12))
    one = stats.ttest_1samp(b - a, -0.8, alternative="greater").pvalue
    other = stats.ttest_1samp(b - a, 0.8, alternative="less").pvalue
    assert tost_paired(a, b, 0.8).p == pytest.approx(max(one, other))


def test_a_difference_of_the_margin_is_called_equivalent_at_most_one_time_in_twenty() -> None:
    rng = np.random.default_rng(4)
    shown = sum(tost_paired(np.zeros(8), rng.normal(1, 1, 8), 1).shown for _ in range(2000))
    assert shown / 2000 < 0.065  # 0.05 and three standard errors.


@pytest.mark.parametrize(("a", "b", "margin"), [([1], [1], 1), ([1, 2], [1], 1), ([1, 2], [1, 2], 0)])
def test_what_cannot_be_tested_is_refused(a: list[float], b: list[float], margin: float) -> None:
    with pytest.raises(ValueError, match=r"rounds|margin"):
        tost_paired(a, b, margin)
