import math

import numpy as np
import pytest
from scipy.stats import binom

from crosswind.stats import (
    Convention,
    Interval,
    PerTrial,
    Refused,
    quantile_interval,
    quantile_ranks,
    trials_needed,
)

PS = (0.5, 0.9, 0.95, 0.99, 0.999)


def coverage_by_summing(n, p, low, high):
    """F(high - 1) - F(low - 1), term by term: low..high-1 values lie below the quantile."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(low, high))


@pytest.mark.parametrize(
    ("n", "low", "high", "coverage"),
    [(8, 1, 7, 0.9609), (11, 2, 9, 0.9614), (50, 18, 32, 0.9511), (100, 40, 60, 0.9540)],
)
def test_shortest_ranks_equal_the_table(n, low, high, coverage):
    ranks = quantile_ranks(n, 0.5, convention=Convention.SHORTEST)
    assert (ranks.low, ranks.high) == (low, high)
    assert ranks.coverage == pytest.approx(coverage, abs=5e-5)
    assert ranks.coverage == pytest.approx(coverage_by_summing(n, 0.5, low, high))


@pytest.mark.parametrize("n", [6, 13, 40, 77])
@pytest.mark.parametrize("p", [0.5, 0.8])
def test_no_span_shorter_than_the_shortest_covers_enough(n, p):
    ranks = quantile_ranks(n, p, convention=Convention.SHORTEST)
    spans = {
        (low, high): coverage_by_summing(n, p, low, high)
        for low in range(1, n + 1)
        for high in range(low + 1, n + 1)
    }
    enough = [high - low for (low, high), coverage in spans.items() if coverage >= 0.95]
    assert (ranks.low is None) == (not enough)
    if enough:
        assert ranks.high - ranks.low == min(enough)
        assert ranks.coverage >= 0.95


@pytest.mark.parametrize(("n", "low", "high", "coverage"), [(10, 1, 10, 0.9980), (30, 9, 22, 0.984)])
def test_normal_ranks_are_those_that_confirm_prints_and_cover_more_than_asked(n, low, high, coverage):
    ranks = quantile_ranks(n, 0.5, convention=Convention.NORMAL)
    assert (ranks.low, ranks.high) == (low, high)
    assert ranks.coverage == pytest.approx(coverage, abs=5e-4)


@pytest.mark.parametrize(
    ("convention", "needed"),
    [
        (Convention.EQUAL_TAILED, (6, 36, 72, 368, 3688)),
        (Convention.SHORTEST, (6, 29, 59, 299, 2995)),
        (Convention.UPPER, (5, 29, 59, 299, 2995)),
    ],
)
def test_fewest_trials_of_each_convention_equal_the_table(convention, needed):
    assert tuple(trials_needed(p, convention=convention) for p in PS) == needed
    for p, n in zip(PS, needed, strict=True):
        assert quantile_ranks(n, p, convention=convention).high is not None
        fewer = quantile_ranks(n - 1, p, convention=convention)
        assert fewer.high is None or (fewer.low is None and convention != Convention.UPPER)


def test_normal_ranks_need_eight_trials_for_a_median():
    assert trials_needed(0.5, convention=Convention.NORMAL) == 8


@pytest.mark.parametrize("n", [1, 2, 5, 6, 36, 1000, 10_000_000])
@pytest.mark.parametrize("p", [0.001, 0.5, 0.9, 0.999])
def test_equal_tails_are_the_largest_that_the_binomial_law_allows(n, p):
    ranks = quantile_ranks(n, p)
    law = binom(n, p)
    # By definition: j = max{j: F(j-1) <= 0.025} and k = min{k: 1 - F(k-1) <= 0.025}.
    if ranks.low is None:
        assert law.cdf(0) > 0.025
    else:
        assert law.cdf(ranks.low - 1) <= 0.025 < law.cdf(ranks.low)
    if ranks.high is None:
        assert law.sf(n - 1) > 0.025
    else:
        assert law.sf(ranks.high - 1) <= 0.025 < law.sf(ranks.high - 2)


def test_a_one_sided_interval_has_an_upper_bound_only():
    answer = quantile_interval(PerTrial.numbered(range(1, 6)), 0.5, convention=Convention.UPPER)
    assert isinstance(answer, Interval)
    # 0.5^5 = 0.03125 is at most 0.05.
    assert (answer.low, answer.high, answer.low_rank, answer.high_rank) == (-math.inf, 5.0, None, 5)
    assert answer.coverage == pytest.approx(1 - 0.03125)


def test_an_exact_tie_with_the_tail_is_within_it():
    # At 50 % each side of two values may miss with 0.25 = 0.5^2.
    ranks = quantile_ranks(2, 0.5, confidence=0.5)
    assert (ranks.low, ranks.high) == (1, 2)


@pytest.mark.parametrize("p", [0, 1, 50, -0.1, math.nan])
def test_what_is_no_share_is_refused(p):
    with pytest.raises(Refused, match=r"p: .* is not in \(0, 1\)"):
        quantile_ranks(10, p)


def test_plain_numbers_are_trials_when_somebody_says_so():
    assert len(PerTrial.numbered(np.arange(3.0))) == 3
