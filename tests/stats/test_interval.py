import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import quantile_test

from crosswind.stats import Interval, NeedsTrials, NotPerTrial, PerTrial, quantile_interval, trials_needed


def per_trial(values):
    return PerTrial.of({f"t{i}": value for i, value in enumerate(values)})


# Ranks and coverage of the equal-tailed 95 % interval of the median: tables of the binomial distribution.
MEDIAN_RANKS = [
    (6, 1, 6, 0.96875),
    (7, 1, 7, 0.984375),
    (8, 1, 8, 0.9921875),
    (9, 2, 8, 0.9609375),
    (10, 2, 9, 0.978516),
    (12, 3, 10, 0.961426),
    (15, 4, 12, 0.964844),
    (20, 6, 15, 0.958611),
    (30, 10, 21, 0.957226),
    (50, 18, 33, 0.967161),
    (100, 40, 61, 0.964800),
]


@pytest.mark.parametrize(("n", "low", "high", "coverage"), MEDIAN_RANKS)
def test_median_ranks_equal_the_table(n, low, high, coverage):
    interval = quantile_interval(per_trial(range(1, n + 1)), 0.5)
    assert isinstance(interval, Interval)
    assert (interval.low_rank, interval.high_rank) == (low, high)
    assert (interval.low, interval.high) == (low, high)
    assert interval.coverage == pytest.approx(coverage, abs=1e-6)


@pytest.mark.parametrize(("p", "n"), [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688)])
def test_fewest_trials_equal_the_table(p, n):
    assert trials_needed(p) == n
    assert isinstance(quantile_interval(per_trial(range(n - 1)), p), NeedsTrials)
    assert isinstance(quantile_interval(per_trial(range(n)), p), Interval)


@pytest.mark.parametrize("n", [6, 7, 9, 11, 20, 36, 37, 72, 150, 400])
@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
def test_interval_equals_scipys_exact_quantile_test(n, p):
    values = np.random.default_rng(n).lognormal(size=n)
    theirs = quantile_test(values, p=p).confidence_interval(0.95)
    ours = quantile_interval(per_trial(values), p)
    # scipy answers NaN for a bound that does not exist; here it is infinite and the answer says what it
    # needs.
    assert ours.low == (theirs.low if not math.isnan(theirs.low) else -math.inf)
    assert ours.high == (theirs.high if not math.isnan(theirs.high) else math.inf)


def test_too_few_trials_say_how_many_to_add():
    answer = quantile_interval(per_trial([1.0, 2.0, 3.0]), 0.5)
    assert isinstance(answer, NeedsTrials)
    assert (answer.estimate, answer.needed, answer.more) == (2.0, 6, 3)
    assert (answer.low, answer.high) == (-math.inf, math.inf)
    assert str(answer) == "needs 3 more trials"


def test_no_trial_at_all_is_an_answer_not_an_error():
    answer = quantile_interval(per_trial([]), 0.5)
    assert isinstance(answer, NeedsTrials)
    assert (answer.estimate, answer.more) == (None, 6)


def test_a_failed_trial_keeps_its_rank_as_the_slowest():
    answer = quantile_interval(per_trial([1, 2, 3, 4, 5, None]), 0.5)
    assert isinstance(answer, Interval)
    assert (answer.low, answer.high) == (1.0, math.inf)


def test_ties_do_not_disturb_the_ranks():
    answer = quantile_interval(per_trial([5.0] * 9), 0.5)
    assert isinstance(answer, Interval)
    assert (answer.low, answer.high, answer.low_rank, answer.high_rank) == (5.0, 5.0, 2, 8)


def test_operations_are_refused_with_the_reason():
    with pytest.raises(NotPerTrial, match="operations of one trial are not independent"):
        quantile_interval(np.ones(10_000), 0.5)  # type: ignore[arg-type]
    with pytest.raises(NotPerTrial, match="a trial appears twice"):
        PerTrial(("t0", "t0"), (1.0, 2.0))
    with pytest.raises(ValueError, match="trial t0: NaN"):
        PerTrial.of({"t0": math.nan})


@given(st.integers(6, 80), st.floats(0.2, 0.8), st.floats(0.5, 0.99))
def test_coverage_is_at_least_the_confidence(n, p, confidence):
    answer = quantile_interval(per_trial(range(n)), p, confidence)
    if isinstance(answer, Interval):
        assert answer.coverage >= confidence
        assert answer.low <= answer.estimate <= answer.high
