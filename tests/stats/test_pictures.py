import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.stats import box_plot, ccdf, ecdf

values_lists = st.lists(st.floats(0, 1e9), min_size=1, max_size=60)


def test_whiskers_end_at_data_not_at_fences():
    # Type 7: quartiles 3.25, 5.5, 7.75; fences -3.5 and 14.5; 30 lies outside.
    box = box_plot([1, 2, 3, 4, 5, 6, 7, 8, 9, 30])
    assert (box.q1, box.median, box.q3) == (3.25, 5.5, 7.75)
    assert (box.whisker_low, box.whisker_high) == (1, 9)
    assert box.outliers.tolist() == [30]


@given(values_lists)
def test_box_is_ordered_and_outliers_lie_beyond_the_whiskers(values):
    box = box_plot(values)
    assert box.whisker_low <= box.q1 <= box.median <= box.q3 <= box.whisker_high
    assert all(x < box.whisker_low or x > box.whisker_high for x in box.outliers)


@given(values_lists, st.integers(2, 20))
def test_ecdf_points_are_data_with_their_true_share(values, points_max):
    curve = ecdf(values, points_max)
    assert len(curve.value) <= points_max
    assert (curve.share[-1], curve.value[-1]) == (1.0, max(values))
    assert set(curve.value) <= set(np.asarray(values, dtype=float))


@given(values_lists, st.integers(2, 20))
def test_ccdf_share_is_exactly_what_is_strictly_larger(values, points_max):
    curve = ccdf(values, points_max)
    for value, share in zip(curve.value, curve.share, strict=True):
        assert share == pytest.approx(np.mean(np.asarray(values) > value))
        assert share > 0


def test_ccdf_keeps_every_operation_of_the_far_tail():
    curve = ccdf(np.arange(100_000), 200)
    assert curve.value[-3:].tolist() == [99_996, 99_997, 99_998]
