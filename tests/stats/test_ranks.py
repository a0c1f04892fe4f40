import math

import numpy as np
import pytest
from scipy.stats import binom

from crosswind.stats import (
    PerTrial,
    Refused,
    quantile_ranks,
)


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
