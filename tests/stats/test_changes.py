"""Where a series changes: worked examples, an optimum by dynamic programming, enumeration."""

import math

import numpy as np
import pytest

from crosswind.stats import best_division, e_divisive, normal_scores, pelt, permutation_cusum


def test_the_cusum_of_seven_is_the_worked_example() -> None:
    found = permutation_cusum([10, 11, 12, 13, 20, 21, 22])
    assert found.statistic == pytest.approx(2.003333, abs=1e-6)
    assert found.p == pytest.approx(504 / 5040)


def test_a_doubling_is_found_at_ten() -> None:
    rng = np.random.default_rng(2)
    found = [permutation_cusum(rng.lognormal(0, 0.1, 10) * ([1] * 6 + [2] * 4)) for _ in range(50)]
    assert all(shift.p < 0.05 for shift in found)
    assert np.median([shift.at for shift in found]) == 6


def test_a_trial_that_never_ended_is_the_slowest_and_no_more() -> None:
    values = [3.0, 1.0, 2.0, 5.0, 4.0]
    assert normal_scores([*values, math.inf]).tolist() == normal_scores([*values, 6.0]).tolist()


def optimum(values: list[float], penalty: float) -> list[int]:
    """Return the best changes by trying all of them: an oracle without pruning."""
    z = normal_scores(values)
    n = len(z)
    best: list[tuple[float, list[int]]] = [(-penalty, [])]
    for end in range(1, n + 1):
        best.append(
            min(
                (
                    best[start][0] + penalty + float(np.sum((z[start:end] - z[start:end].mean()) ** 2)),
                    [*best[start][1], start],
                )
                for start in range(end - 1)
                if start == 0 or start >= 2
            )
            if end >= 2
            else (math.inf, [])
        )
    return best[n][1][1:]


@pytest.mark.parametrize("seed", range(5))
def test_pelt_finds_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(level, 1, 11) for level in (0, 6, 2, 9)]).tolist()
    assert pelt(values) == optimum(values, 3 * math.log(44))


def test_pelt_rarely_finds_a_change_where_there_is_none() -> None:
    rng = np.random.default_rng(3)
    assert sum(bool(pelt(rng.pareto(1.5, 40))) for _ in range(200)) <= 6  # 1 % and three standard errors.


def test_the_division_of_eight_is_the_worked_example() -> None:
    at, statistic = best_division([1, 2, 1, 2, 9, 8, 9, 8])
    assert (at, statistic) == (4, pytest.approx(25.3333, abs=1e-4))


def test_a_change_of_spread_alone_is_a_change() -> None:
    rng = np.random.default_rng(4)
    found = e_divisive(np.concatenate([rng.normal(0, 1, 40), rng.normal(0, 12, 40)]))
    assert len(found) == 1
    assert abs(found[0].at - 40) <= 3


def test_a_constant_series_has_no_change() -> None:
    assert pelt([5.0] * 20) == e_divisive([5.0] * 20) == []
    assert permutation_cusum([5.0] * 20).p == 1
