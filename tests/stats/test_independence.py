"""Statistics of the order of a series, against numbers worked out by hand and enumeration."""

import math
from itertools import permutations

import numpy as np
import pytest

from crosswind.stats import autocorrelations, normal_scores
from crosswind.stats.bartels import bartels_rows
from crosswind.stats.cusum import cusum_curves
from crosswind.stats.kpss import kpss_rows
from crosswind.stats.ljung_box import ljung_box_rows
from crosswind.stats.order_evidence import order_evidence


def row(values) -> np.ndarray:  # type: ignore[no-untyped-def, type-arg]
    return np.array([values], dtype=float)


def test_bartels_is_the_worked_example() -> None:
    # Ranks of 3, 1, 4, 6, 5, 9, 8.
    orders = np.array(list(permutations([2.0, 1, 3, 5, 4, 7, 6])))
    ratios = bartels_rows(orders)
    assert ratios[0] == pytest.approx(0.714286, abs=1e-6)
    assert np.sum(ratios <= ratios[0] + 1e-9) == 132  # of 5040


def test_ljung_box_agrees_with_its_formula() -> None:
    values = np.random.default_rng(1).normal(12, 1, 20)
    r = autocorrelations(values, 3)
    deviations = values - values.mean()
    assert r[1] == pytest.approx(deviations[2:] @ deviations[:-2] / (deviations @ deviations))
    assert ljung_box_rows(row(values), 3)[0] == pytest.approx(20 * 22 * sum(r**2 / np.array([19, 18, 17])))


def test_kpss_of_a_step_of_four_is_worked_by_hand() -> None:
    # Deviations of -1/2 and 1/2 add up to -1/2, -1, -1/2, 0: squares 1.5, over n times their own, 4 * 1.
    assert kpss_rows(row([0, 0, 1, 1]))[0] == pytest.approx(1.5 / 4)


def test_the_cusum_of_seven_is_the_worked_example() -> None:
    scores = normal_scores([10, 11, 12, 13, 20, 21, 22])
    curves = cusum_curves(np.array(list(permutations(scores))))
    assert curves[0].max() == pytest.approx(2.003333, abs=1e-6)
    assert np.sum(curves.max(axis=1) >= curves[0].max() - 1e-9) == 504  # of 5040


def test_the_largest_of_the_cusum_is_where_a_doubling_begins() -> None:
    rng = np.random.default_rng(2)
    scores = [normal_scores(rng.lognormal(0, 0.1, 10) * ([1] * 6 + [2] * 4)) for _ in range(50)]
    assert np.median(cusum_curves(np.array(scores)).argmax(axis=1) + 1) == 6


def test_each_test_keeps_its_level_on_ten_independent_values() -> None:
    rng = np.random.default_rng(5)
    found = [order_evidence(normal_scores(rng.exponential(size=10)), 0.05) for _ in range(400)]
    # 0.05 and three standard errors of 400.
    assert np.mean([evidence.p < 0.05 for evidence in found]) < 0.083
    # A p counts for all five tests, so that each refuses less; some series are refused.
    assert 0 < np.mean([evidence.each["KPSS"] < 0.05 for evidence in found]) < 0.05


def test_kpss_finds_a_drift_among_ten_trials() -> None:
    # Of 2000 series 58 of 100, with a fifth of the error of five tests; less three standard errors of 200.
    rng = np.random.default_rng(3)
    drifting = (normal_scores(rng.lognormal(0, 0.2, 10) * np.linspace(1, 2, 10)) for _ in range(200))
    assert np.mean([order_evidence(scores, 0.05).each["KPSS"] < 0.05 for scores in drifting]) > 0.48


def test_a_trial_that_never_ended_is_the_slowest_and_no_more() -> None:
    values = [3.0, 1.0, 2.0, 5.0, 4.0]
    assert normal_scores([*values, math.inf]).tolist() == normal_scores([*values, 6.0]).tolist()


def test_a_constant_series_has_no_autocorrelation() -> None:
    assert np.isnan(autocorrelations([5.0] * 12, 2)).all()
