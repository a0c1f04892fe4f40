import math

import numpy as np
import pytest

from crosswind.stats import GroupsNeedTrials, NotPerTrial, PerTrial, RatioInterval, ratio_interval


def per_trial(values):
    return PerTrial.of({f"t{i}": float(value) for i, value in enumerate(values)})


def test_interval_takes_the_ranks_of_the_exact_mann_whitney_law():
    # Exponentials turn the shift of A = 10 12 13 14 15, B = 14.5 16 17 18 20 into a ratio. P(U <= 2) = 4/252
    # is the largest probability at most 0.025, so the bounds are the third smallest (1) and third largest (8)
    # difference.
    a, b = np.exp([12, 15, 14, 10, 13]), np.exp([16, 18, 17, 14.5, 20])
    answer = ratio_interval(per_trial(a), per_trial(b))
    assert isinstance(answer, RatioInterval)
    assert math.log(answer.estimate) == pytest.approx(4)
    assert (math.log(answer.low), math.log(answer.high)) == (pytest.approx(1), pytest.approx(8))
    assert answer.coverage == pytest.approx(1 - 8 / 252)
    assert answer.differs


def test_interval_contains_the_true_ratio_as_often_as_it_says():
    generator = np.random.default_rng(5)
    inside = 0
    for _ in range(2000):
        answer = ratio_interval(
            per_trial(generator.lognormal(size=5)), per_trial(3 * generator.lognormal(size=5))
        )
        assert isinstance(answer, RatioInterval)
        inside += answer.low <= 3 <= answer.high
    # Coverage 0.968; four standard errors of 2000 draws are 0.016.
    assert inside / 2000 == pytest.approx(1 - 8 / 252, abs=0.016)


def test_swapping_the_groups_inverts_the_ratio():
    a, b = per_trial([1, 2, 3, 4]), per_trial([5, 9, 6, 7])
    forward, backward = ratio_interval(a, b), ratio_interval(b, a)
    assert isinstance(forward, RatioInterval)
    assert isinstance(backward, RatioInterval)
    assert forward.estimate == pytest.approx(1 / backward.estimate)
    assert forward.low == pytest.approx(1 / backward.high)


def test_three_trials_a_side_bound_nothing():
    answer = ratio_interval(per_trial([1, 2, 3]), per_trial([4, 5, 6]))
    assert isinstance(answer, GroupsNeedTrials)
    assert answer.estimate == pytest.approx(2.5)  # of 4/3 5/3 2 2 2.5 3 4 5 6, the fifth
    assert str(answer) == "needs 4 trials a side"


def test_values_without_a_ratio_are_refused():
    with pytest.raises(ValueError, match=r"trial t0: 0\.0 has no ratio"):
        ratio_interval(per_trial([0]), per_trial([1]))
    with pytest.raises(NotPerTrial):
        ratio_interval(np.ones(5), per_trial([1]))  # type: ignore[arg-type]
