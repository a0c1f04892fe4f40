"""Kolmogorov-Smirnov and equivalence with a law: worked examples and error rates."""

import numpy as np
import pytest
from scipy import stats

from crosswind.stats import (
    ks_equivalence,
    ks_test,
    ks_two_samples,
    samples_for_margin,
    wasserstein_equivalence,
)


def test_worked_examples() -> None:
    found = ks_test([0.1, 0.35, 0.4, 0.7, 0.95], stats.uniform.cdf)
    assert (found.statistic, found.p) == pytest.approx((0.2, 0.9616), abs=5e-5)
    # Of the 126 ways to mix four and five values 36 have a difference of 3/5 or more.
    two = ks_two_samples([4, 5, 6, 7], [1, 2, 3, 8, 9])
    assert (two.statistic, two.p) == pytest.approx((3 / 5, 36 / 126))
    assert samples_for_margin(0.01) == 18_445


def test_a_law_is_near_only_when_enough_was_measured() -> None:
    samples = np.random.default_rng(8).random(40_000)
    assert ks_equivalence(samples, stats.uniform.cdf, 0.02).shown
    assert not ks_equivalence(samples[:1000], stats.uniform.cdf, 0.02).shown


def test_a_distance_in_nanoseconds_is_bounded_by_the_span() -> None:
    samples = np.random.default_rng(9).uniform(0, 1000, 40_000)
    near = wasserstein_equivalence(samples, lambda p: p * 1000, 10, span=1000)
    assert near.shown
    assert near.distance < near.upper
    assert not wasserstein_equivalence(samples + 20, lambda p: p * 1000, 10, span=1020).shown
