"""How often the quantile of fewer trials misses the interval of all, against going through all choices."""

from itertools import combinations

import numpy as np
import pytest

from crosswind.stats import Refused, fewer_trials, quantile, quantile_ranks


@pytest.mark.parametrize("p", [0.5, 0.3])
@pytest.mark.parametrize("few", [1, 2, 3, 4, 5, 12])
def test_every_choice_is_counted_once(few: int, p: float) -> None:
    values = np.random.default_rng(3).lognormal(size=12 if p == 0.5 else 14)
    ranks = quantile_ranks(values.size, p)
    assert ranks.low is not None
    assert ranks.high is not None
    low, high = np.sort(values)[[ranks.low - 1, ranks.high - 1]]
    found = [quantile(choice, p) for choice in combinations(values, few)]
    missed = np.mean([not low <= value <= high for value in found])
    assert fewer_trials(values, few, p=p).missed == pytest.approx(missed, abs=1e-12)


def test_a_median_of_three_misses_as_often_whatever_was_measured() -> None:
    random = np.random.default_rng(4)
    for values in (random.normal(size=50), random.pareto(1.1, size=50), np.arange(50) ** 7):
        assert fewer_trials(values, 3).missed == pytest.approx(0.52735, abs=1e-5)


def test_what_never_ended_is_a_value() -> None:
    values = [*range(1, 46), *[np.inf] * 5]
    assert fewer_trials(values, 3).missed == pytest.approx(0.52735, abs=1e-5)
    assert 0.1 < fewer_trials(values, 10).missed < 0.4


def test_too_few_values_and_too_many_chosen_are_refused() -> None:
    with pytest.raises(Refused, match="interval"):
        fewer_trials([1, 2, 3], 2)
    with pytest.raises(Refused, match="from 1 to 8"):
        fewer_trials(range(8), 9)
