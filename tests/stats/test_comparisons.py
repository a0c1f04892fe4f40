import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats as scipy_stats

from crosswind.stats import (
    GroupsNeedTrials,
    NotPerTrial,
    PerTrial,
    ShiftInterval,
    hodges_lehmann,
    holm,
    kruskal_wallis,
    mann_whitney,
    ratio_interval,
)
from crosswind.stats.mann_whitney import rank_of_bounds

A, B = [12, 15, 14, 10, 13], [16, 18, 17, 14.5, 20]


def trials(values):
    return PerTrial.numbered(values)


def test_mann_whitney_equals_the_worked_example():
    # One pair of 25 is won by A: 15 against 14.5. P(U <= 1) = 2/252 on one side.
    found = mann_whitney(trials(A), trials(B))
    assert (found.u, found.exact) == (1, True)
    assert found.p == pytest.approx(4 / 252)
    assert found.cliffs_delta == pytest.approx(-0.92)
    assert found.a12 == pytest.approx(0.04)


def test_mann_whitney_with_ties_goes_through_every_arrangement():
    a, b = [1, 2, 2, 3], [2, 3, 3, 4, 5]
    found = mann_whitney(trials(a), trials(b))
    pooled = np.array(a + b, dtype=float)

    def u(first):
        second = [i for i in range(9) if i not in first]
        return sum(
            (pooled[i] > pooled[j]) + 0.5 * (pooled[i] == pooled[j]) for i, j in product(first, second)
        )

    every = np.array([u(first) for first in combinations(range(9), 4)])
    assert found.exact
    assert found.p == pytest.approx(2 * np.mean(every <= found.u), rel=1e-9)


def test_mann_whitney_counts_trials_that_never_ended():
    found = mann_whitney(trials([1, 2, 3, math.inf, math.inf]), trials([4, 5, 6, 7, math.inf]))
    # Won: the two infinite ones against four each; tied: two pairs.
    assert found.u == 2 * 4 + 2 * 0.5
    assert 0 < found.p <= 1


def test_hodges_lehmann_takes_the_third_and_the_23rd_of_25_differences():
    # P(U <= 2) = 4/252 is the largest probability that is at most 0.025; the fourth (1.5 and 7) would be
    # missed with 7/252 on each side. R's wilcox.test(conf.int = TRUE) takes the third as well.
    found = hodges_lehmann(trials(A), trials(B))
    assert isinstance(found, ShiftInterval)
    assert found.estimate == 4
    assert found.coverage == pytest.approx(0.96825, abs=5e-6)
    differences = sorted(b - a for a in A for b in B)
    assert (found.rank, found.low, found.high) == (3, differences[2], differences[22]) == (3, 1, 8)


def test_ranks_of_the_shift_are_the_widest_that_enumeration_allows():
    below = [
        sum(i > j for i in first for j in range(10) if j not in first) for first in combinations(range(10), 5)
    ]
    tails = {rank: np.mean(np.array(below) <= rank - 1) for rank in range(1, 6)}
    allowed = max(rank for rank, tail in tails.items() if tail <= 0.025)
    assert hodges_lehmann(trials(A), trials(B)).rank == allowed


def test_too_few_trials_bound_no_shift():
    found = hodges_lehmann(trials([1, 2, 3]), trials([4, 5, 6]))
    assert isinstance(found, GroupsNeedTrials)
    assert (found.estimate, str(found)) == (3, "needs 4 trials a side")


def test_large_groups_take_the_normal_law_and_agree_with_the_exact_one():
    rank, _tail, exact = rank_of_bounds(100, 100, 0.025)
    assert exact
    larger, _tail, exact = rank_of_bounds(101, 100, 0.025)
    assert not exact
    # By the normal law rank / (m n) goes as 1/2 - 1.96 sqrt((m + n + 1) / (12 m n)).
    assert larger / (101 * 100) == pytest.approx(rank / (100 * 100), rel=2e-3)


def test_ratio_is_the_shift_of_logarithms():
    shift = hodges_lehmann(trials(np.log(A)), trials(np.log(B)))
    ratio = ratio_interval(trials(A), trials(B))
    assert math.log(ratio.high) == pytest.approx(shift.high)


def test_kruskal_wallis_of_tiny_groups_is_permuted_exactly():
    # Rank sums 5, 5, 11: H = 12 / (6 * 7) * (25 + 25 + 121) / 2 - 21 = 24/7, which 30 of 90 partitions reach;
    # chi-squared would say 0.18.
    found = kruskal_wallis([trials([1, 4]), trials([2, 3]), trials([5, 6])])
    assert found.h == pytest.approx(24 / 7)
    assert found.p == pytest.approx(30 / 90)
    assert found.permuted
    assert scipy_stats.chi2.sf(found.h, 2) == pytest.approx(0.180, abs=5e-4)


def test_a_group_of_a_single_trial_is_tested_by_the_ranks_that_it_could_have():
    # Two of the seven values are 3 or more: 2 * 2/7. H = 12 / 20 (16 + 1 + 25/2) - 15; of the 12 choices of
    # the two single ranks, 1 4, 1 2 and 3 4 in either order have that much: 6 of 12.
    assert mann_whitney(trials([3]), trials([3, 2, 2, 1, 1, 1])).p == pytest.approx(4 / 7)
    found = kruskal_wallis([trials([4]), trials([1]), trials([2, 3])])
    assert (found.h, found.p) == (pytest.approx(2.7), pytest.approx(1 / 2))


def test_kruskal_wallis_of_larger_groups_equals_scipys_with_ties():
    random = np.random.default_rng(1)
    groups = [random.integers(0, 12, size=n).astype(float) for n in (5, 6, 7)]
    found, theirs = kruskal_wallis([trials(g) for g in groups]), scipy_stats.kruskal(*groups)
    assert (found.h, found.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
    assert found.epsilon_squared == pytest.approx(found.h / 17)


MANY = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]


def test_holm_equals_the_worked_example():
    assert holm(MANY)[:4] == pytest.approx([0.01, 0.072, 0.312, 0.312])


def test_corrections_keep_the_order_that_they_were_given():
    shuffled = np.random.default_rng(1).permutation(10)
    assert holm(np.array(MANY)[shuffled]) == pytest.approx(holm(MANY)[shuffled])
    assert holm([0.9, 0.8]).max() <= 1


@pytest.mark.parametrize(
    "compare",
    [
        lambda values: mann_whitney(values, values),
        lambda values: hodges_lehmann(values, values),
        lambda values: kruskal_wallis([values, values]),
    ],
)
def test_operations_are_never_compared_as_trials(compare):
    with pytest.raises(NotPerTrial, match="operations of one trial are not independent"):
        compare(np.arange(100.0))
