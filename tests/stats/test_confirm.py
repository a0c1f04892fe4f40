import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from crosswind.stats import Refused, confirm, confirm_curve, quantile_ranks
from crosswind.stats.confirm import _Subsets

TEN = [10, 11, 12, 13, 14, 15, 16, 17, 30, 50]


def mean_bounds(values, size):
    return _Subsets(values, 0.5, 0.95).mean_bounds(size)


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [
        (6, 74 / 7, 1408 / 35),
        (7, 83 / 8, 345 / 8),
        (8, 10.2222, 45.7111),
        (9, 11.2, 27.4),
    ],
)
def test_mean_bounds_equal_the_worked_examples(size, low, high):
    assert mean_bounds(TEN, size) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize("size", range(6, 11))
def test_mean_bounds_equal_the_enumeration_of_every_subset(size):
    ranks = quantile_ranks(size, 0.5)
    subsets = [sorted(subset) for subset in combinations(TEN, size)]
    expected = [
        Fraction(sum(subset[rank - 1] for subset in subsets), len(subsets))
        for rank in (ranks.low, ranks.high)
    ]
    assert mean_bounds(TEN, size) == tuple(pytest.approx(float(bound), rel=1e-12) for bound in expected)


def test_weights_far_from_the_mean_do_not_matter():
    # Against whole numbers: C(i-1, j-1) C(n-i, s-j) / C(n, s), for a first rank, whose law has a long side.
    values = np.sort(np.random.default_rng(2).pareto(1.2, size=400))
    for size in (6, 20, 150, 399):
        ranks = quantile_ranks(size, 0.5)
        for rank, bound in zip((ranks.low, ranks.high), mean_bounds(values, size), strict=True):
            weights = [math.comb(i - 1, rank - 1) * math.comb(400 - i, size - rank) for i in range(1, 401)]
            total = math.comb(400, size)
            expected = sum(float(Fraction(w, total)) * x for w, x in zip(weights, values, strict=True))
            assert bound == pytest.approx(expected, rel=1e-9)


def test_all_larger_subsets_pass_and_the_next_smaller_fails():
    values = np.random.default_rng(1).lognormal(sigma=0.2, size=600)
    found = confirm(values, within=0.05)
    curve = confirm_curve(values, points_max=10_000)
    wide = np.maximum(found.quantile - curve.low, curve.high - found.quantile) / found.quantile
    assert np.all(wide[curve.size >= found.needed] <= 0.05)
    assert wide[curve.size == found.needed - 1] > 0.05


@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize("sigma", [0.2, 0.5])
def test_galloping_finds_what_looking_at_every_size_finds(seed, sigma):
    values = np.random.default_rng(seed).lognormal(sigma=sigma, size=3000)
    found, curve = confirm(values, within=0.05), confirm_curve(values, points_max=100_000)
    assert curve.size.size > 2900
    wide = np.maximum(found.quantile - curve.low, curve.high - found.quantile) / found.quantile
    assert found.needed == curve.size[wide > 0.05].max() + 1


def test_a_hundred_thousand_values_need_what_the_law_says():
    # A sample of the law needed 2375 within 1 % at sigma 0.2. Here are its
    # quantiles, so that no luck of a draw is left. The number goes with the squared density at the median; of
    # the 4000 values within 1 % of it a sample has more or less by 1.6 %, so its number is off by 3 %, rarely
    # by twice that; a jump of the ranks adds 2 sqrt(2375), which is 4 %.
    from scipy.stats import norm

    values = np.exp(0.2 * norm.ppf((np.arange(100_000) + 0.5) / 100_000))
    exact = confirm(values, within=0.01)
    assert exact.needed == pytest.approx(2375, rel=0.1)
    assert not exact.strained


def test_a_pilot_that_is_too_short_says_what_it_reaches():
    found = confirm(TEN, within=0.05)
    assert found.needed is None
    # Ten values have ranks 2 and 9 around 14.5: 30 is farther, (30 - 14.5) / 14.5.
    assert found.reached == pytest.approx(15.5 / 14.5)


def test_an_answer_near_the_length_of_the_pilot_is_marked():
    values = np.random.default_rng(5).normal(100, 5, size=60)
    found = confirm(values, within=confirm(values, within=1.0).reached * 1.05)
    assert found.needed > 30
    assert found.strained


def test_constant_values_need_no_more_than_the_interval_itself():
    assert confirm([7.0] * 20, within=0.01).needed == 6


@pytest.mark.parametrize(
    ("values", "within", "words"),
    [
        ([1, 2, 3], 0.1, "3 of them; at least 6"),
        ([1, 2, 3, 4, 5, math.inf], 0.1, "number 6 is inf"),
        ([-1, 0, 0, 0, 0, 1], 0.1, "their quantile is 0"),
        (TEN, 0, "not above 0"),
    ],
)
def test_what_has_no_answer_is_refused(values, within, words):
    with pytest.raises(Refused, match=words):
        confirm(values, within=within)
