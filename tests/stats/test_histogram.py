import math

import numpy as np
import pytest

from crosswind.stats import (
    Histogram,
    Interval,
    NeedsTrials,
    PerTrial,
    Refused,
    log_linear,
    merge,
    quantile_interval,
)


def counted(values, **kwargs):
    return log_linear(values, **{"highest": 10**9, "unit": "ns", **kwargs})


def test_a_quantile_is_the_highest_value_of_its_bin():
    # With three digits 205600 lies in the bin of width 128 from 205568 on.
    assert counted([205_600]).quantile(0.5) == 205_695


def test_small_whole_numbers_have_bins_of_their_own():
    histogram = counted(range(1, 101))
    assert [histogram.quantile(p) for p in (0, 0.5, 0.99, 1)] == [1, 50, 99, 100]


def test_no_bin_is_wider_than_its_digits_say():
    for digits in (1, 2, 3):
        edges = counted([], digits=digits).edges
        assert np.all(np.diff(edges) <= np.maximum(1, edges[:-1] / 10**digits))


def test_merging_counts_gives_the_percentile_that_averaging_misses():
    random = np.random.default_rng(1)
    quick, slow = random.normal(1000, 10, 9000), random.normal(11_000, 100, 1000)
    merged = merge([counted(quick), counted(slow)])
    exact = np.sort(np.concatenate((quick, slow)).astype(int))[9899]
    assert merged.quantile(0.99) == pytest.approx(exact, rel=1e-3)
    averaged = (counted(quick).quantile(0.99) + counted(slow).quantile(0.99)) / 2
    assert averaged < 0.6 * merged.quantile(0.99)


def test_merging_is_counting_everything_at_once():
    parts = [counted([1, 5000], overflow=1), counted([70_000]), counted([])]
    together = counted([1, 5000, 70_000], overflow=1)
    assert np.array_equal(merge(parts).counts, together.counts)
    assert merge(parts).n == together.n == 4


def test_lost_operations_are_slower_than_everything():
    histogram = counted(range(1, 100), overflow=1)
    assert histogram.quantile(0.99) == 99
    assert histogram.quantile(1) == math.inf
    assert counted([5, 2 * 10**9]).overflow == 1


def test_unequal_histograms_are_refused_with_the_remedy():
    with pytest.raises(Refused, match="same significant digits"):
        merge([counted([1]), counted([1], digits=2)])
    with pytest.raises(Refused, match='its unit is "us", of the first "ns"'):
        merge([counted([1]), counted([1], unit="us")])
    with pytest.raises(Refused, match="none to merge"):
        merge([])


def test_the_interval_by_rank_counts_is_that_of_the_values():
    values = np.random.default_rng(3).integers(1, 1500, size=400)
    ours, exact = counted(values).interval(0.9), quantile_interval(PerTrial.numbered(values), 0.9)
    assert isinstance(ours, Interval)
    assert (ours.low, ours.high, ours.coverage) == (exact.low, exact.high, exact.coverage)


def test_the_interval_of_merged_counts_says_what_it_needs():
    answer = merge([counted(range(100)), counted(range(100))]).interval(0.99)
    assert isinstance(answer, NeedsTrials)
    assert (answer.needed, answer.high) == (368, math.inf)
    assert str(counted([]).interval(0.5)) == "needs 6 more trials"


def test_bins_that_do_not_ascend_are_refused():
    with pytest.raises(Refused, match="edges ascend"):
        Histogram(np.array([0, 0, 1]), np.array([1, 1]), 0, "ns")
