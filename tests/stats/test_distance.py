"""Distances from a law, against numbers worked out by hand, scipy, and known answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crosswind.stats import ks_bound, ks_distance, run_lengths, wasserstein_distance


def test_the_distance_from_the_uniform_law_is_the_worked_example() -> None:
    # At 0.4 the samples have reached 3/5, and the law 2/5: nowhere are they further apart.
    assert ks_distance([0.1, 0.35, 0.4, 0.7, 0.95], lambda x: x) == pytest.approx(0.2)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=60))
def test_the_distance_from_a_continuous_law_agrees_with_scipy(samples: list[float]) -> None:
    expected = stats.kstest(samples, "norm", method="asymp").statistic
    assert ks_distance(samples, stats.norm.cdf) == pytest.approx(expected)


def test_a_discrete_law_fits_its_own_values_exactly() -> None:
    # Two values with one half each: the step makes F(0-) = 0. Taken as continuous it would be 1/2 away.
    coin = stats.bernoulli(0.5).cdf
    assert ks_distance([0, 1], coin, step=1) == 0
    assert ks_distance([0, 0, 0, 1], coin, step=1) == 0.25


@pytest.mark.parametrize("seed", range(5))
def test_samples_of_the_law_stay_within_the_bound(seed: int) -> None:
    samples = np.random.default_rng(seed).normal(size=10_000)
    assert ks_distance(samples, stats.norm.cdf) < ks_bound(10_000, 1e-6)


def test_the_bound_is_that_of_18445_samples_for_one_percent() -> None:
    assert ks_bound(18_445, 0.05) == pytest.approx(0.01, abs=1e-6)


def test_moving_every_sample_by_a_microsecond_is_a_distance_of_a_microsecond() -> None:
    samples = np.arange(1000) + 0.5
    assert wasserstein_distance(samples + 1000, lambda p: p * 1000) == pytest.approx(1000)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=30), st.lists(st.integers(0, 100), min_size=1))
def test_the_distance_between_two_samples_agrees_with_scipy(a: list[int], b: list[int]) -> None:
    law = np.sort(b)
    # As many points for each sample as the law has values: each p then lies within one value of either.
    found = wasserstein_distance(a, lambda p: law[(p * len(b)).astype(int)].astype(float), points=len(b))
    assert found == pytest.approx(stats.wasserstein_distance(a, b), abs=1e-9)


@pytest.mark.parametrize(
    ("marks", "lengths"), [("", []), ("000", []), ("1", [1]), ("0110111", [2, 3]), ("1101", [2, 1])]
)
def test_runs_are_counted_with_their_ends(marks: str, lengths: list[int]) -> None:
    assert run_lengths([mark == "1" for mark in marks]).tolist() == lengths
