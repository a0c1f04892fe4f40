"""Tests of stationarity and independence, against numbers worked out by hand, enumeration and scipy."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from crosswind.stats import (
    augmented_dickey_fuller,
    autocorrelations,
    bartels,
    kpss,
    ljung_box,
    mann_kendall,
    runs_test,
    shapiro_wilk,
    turning_points,
)
from crosswind.stats.adf import _normal_of
from crosswind.stats.bartels import bartels_tails
from crosswind.stats.ljung_box import ljung_box_permutation
from crosswind.stats.turning_points import turning_point_counts

# Twenty values of an independent series, and the walk whose steps they are.
INDEPENDENT = [
    12.1, 11.4, 13.0, 12.7, 10.9, 12.2, 13.4, 11.8, 12.9, 11.1,
    12.6, 13.1, 11.6, 12.0, 12.4, 11.3, 13.3, 12.8, 11.9, 12.3,
]  # fmt: skip
WALK = np.cumsum(np.array(INDEPENDENT) - 12).tolist()


def test_two_runs_of_five_are_the_worked_example() -> None:
    # P(R <= 2) = 2 / C(10, 5) = 1/126, and twice that on both sides.
    found = runs_test([10, 12, 11, 13, 14, 18, 17, 19, 20, 16])
    assert (found.statistic, found.law) == (2, "exact")
    assert found.p == pytest.approx(2 / 126)


def test_values_at_the_median_are_on_no_side() -> None:
    assert runs_test([1, 5, 9, 5, 2, 8]).statistic == runs_test([1, 9, 2, 8]).statistic


def test_the_law_of_turning_points_is_that_of_all_orders_of_seven() -> None:
    orders = np.array(list(permutations(range(7))))
    rises = np.diff(orders, axis=1) > 0
    counted = np.bincount(np.sum(rises[:, 1:] != rises[:, :-1], axis=1), minlength=6)
    assert turning_point_counts(7) == tuple(counted)
    shares = counted / math.factorial(7)
    mean = shares @ np.arange(6)
    assert mean == pytest.approx(10 / 3)
    assert shares @ (np.arange(6) - mean) ** 2 == pytest.approx(83 / 90)


def test_alternation_has_too_many_turning_points_and_a_drift_too_few() -> None:
    # Of 12! orders 2 * 2 702 765 alternate throughout (zigzag numbers).
    assert turning_points([1, 9] * 6).p == pytest.approx(4 * 2_702_765 / math.factorial(12))
    assert turning_points(range(10)).p < 0.001
    # Exact and normal law agree where one takes over from the other.
    series = np.random.default_rng(1).normal(size=31)
    assert turning_points(series[:30]).law == "exact"
    assert turning_points(series).law == "asymptotic"


def test_bartels_is_the_worked_example() -> None:
    assert bartels([3, 1, 4, 6, 5, 9, 8]).statistic == pytest.approx(0.714286, abs=1e-6)
    alike, _ = bartels_tails([3, 1, 4, 6, 5, 9, 8])
    assert alike == pytest.approx(132 / 5040)


def test_mann_kendall_is_the_worked_example() -> None:
    found = mann_kendall([3, 1, 4, 6, 5, 9])
    assert (found.statistic, found.law) == (11, "exact")
    assert found.p == pytest.approx(40 / 720)


def test_trials_that_never_ended_are_equal_to_each_other() -> None:
    assert mann_kendall([1, math.inf, 2, math.inf]).statistic == 3


def test_shapiro_wilk_refuses_the_eleven_weights() -> None:
    found = shapiro_wilk([148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236])
    assert (found.statistic, found.p) == pytest.approx((0.78881, 0.0067), abs=5e-5)
    with pytest.raises(ValueError, match="draw a sample"):
        shapiro_wilk(np.arange(5001))


def test_ljung_box_agrees_with_its_formula() -> None:
    r = autocorrelations(INDEPENDENT, 3)
    deviations = np.array(INDEPENDENT) - np.mean(INDEPENDENT)
    assert r[1] == pytest.approx(deviations[2:] @ deviations[:-2] / (deviations @ deviations))
    found = ljung_box(INDEPENDENT, 3)
    assert found.statistic == pytest.approx(20 * 22 * sum(r**2 / np.array([19, 18, 17])))
    assert found.p == pytest.approx(stats.chi2.sf(found.statistic, 3))
    # The p of the specification's example: 9.68430 with three lags.
    assert stats.chi2.sf(9.68430, 3) == pytest.approx(0.021449, abs=1e-6)


@pytest.mark.parametrize("series", [INDEPENDENT, WALK])
def test_dickey_fuller_without_lags_is_a_slope_over_its_error(series: list[float]) -> None:
    fitted = stats.linregress(series[:-1], np.diff(series))
    found = augmented_dickey_fuller(series, lags=0)
    assert found.statistic == pytest.approx(fitted.slope / fitted.stderr)
    assert (found.p < 0.05) == (series is INDEPENDENT)


@pytest.mark.parametrize(("t", "p"), [(-3.43, 0.01), (-2.86, 0.05), (-2.57, 0.10)])
def test_dickey_fuller_has_the_critical_values_of_the_tables(t: float, p: float) -> None:
    assert stats.norm.cdf(_normal_of(t)) == pytest.approx(p, abs=0.001)


def test_kpss_of_a_step_of_four_is_worked_by_hand() -> None:
    # Deviations of -1/2 and 1/2 add up to -1/2, -1, -1/2, 0: squares 1.5, over n times their own, 4 * 1.
    assert kpss([0, 0, 1, 1]).statistic == pytest.approx(1.5 / 4)
    # One lag with weight 1/2 adds 2 * 1/2 * (1/4 - 1/4 + 1/4) to the squares.
    assert kpss([0, 0, 1, 1], lags=1).statistic == pytest.approx(1.5 / (4 * 1.25))

    with pytest.raises(ValueError, match=r"lags: 3 is not in \[0, 2\]"):
        kpss([0, 0, 1, 1], lags=3)


def test_kpss_finds_a_doubling_and_a_drift_among_ten_trials() -> None:
    # Of 2000 series each: 75 % and 79 %. The published table at two lags finds none of the first.
    rng = np.random.default_rng(3)
    for level in (np.where(np.arange(10) < 6, 1, 2), np.linspace(1, 2, 10)):
        found = [kpss(rng.lognormal(0, 0.2, 10) * level).p < 0.05 for _ in range(200)]
        assert np.mean(found) > 0.6


@pytest.mark.parametrize("series", [INDEPENDENT, WALK])
def test_permutations_and_asymptotic_laws_agree_roughly(series: list[float]) -> None:
    assert ljung_box_permutation(series).p == pytest.approx(ljung_box(series).p, abs=0.1)


def test_permutation_tests_keep_their_level_on_ten_independent_values() -> None:
    rng = np.random.default_rng(5)
    rejected = {"kpss": 0, "ljung-box": 0, "bartels": 0}
    for _ in range(400):
        series = rng.exponential(size=10)
        rejected["kpss"] += kpss(series).p < 0.05
        rejected["ljung-box"] += ljung_box_permutation(series).p < 0.05
        rejected["bartels"] += bartels(series).p < 0.05
    # 0.05 and three standard errors of 400.
    assert max(rejected.values()) / 400 < 0.083


@pytest.mark.parametrize(
    "test", [augmented_dickey_fuller, kpss, ljung_box, ljung_box_permutation, mann_kendall]
)
def test_a_constant_series_is_called_constant(test) -> None:  # type: ignore[no-untyped-def]
    found = test([5.0] * 12)
    assert found.law == "constant"
    assert math.isnan(found.statistic)


@pytest.mark.parametrize("test", [augmented_dickey_fuller, kpss, ljung_box, shapiro_wilk])
@pytest.mark.parametrize(
    ("values", "said"),
    [([], "0 of them"), ([1.0], "1 of them"), ([math.nan] * 9, "NaN"), ([1.0, math.inf] * 9, "infinite")],
)
def test_what_cannot_be_tested_is_refused(test, values, said) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=said):
        test(values)
