"""Equivalence with a law: worked examples and error rates."""

import numpy as np
from scipy import stats

from crosswind.stats import (
    ks_equivalence,
    samples_for_margin,
    wasserstein_equivalence,
)


def test_a_margin_of_one_percent_takes_the_samples_of_the_worked_example() -> None:
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
