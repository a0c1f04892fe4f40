"""The dip against a linear programme that knows nothing of the algorithm, and its null law."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from crosswind.stats import dip, dip_p, modes


def dip_by_linear_programme(values: list[float]) -> float:
    """Return the smallest d such that a law with one mode is within d of the steps: one programme a mode."""
    x, counts = np.unique(values, return_counts=True)
    k, n = x.size, counts.sum()
    upto = counts.cumsum() / n
    below = upto - counts / n
    found = []
    for mode in range(k):
        # Unknown: the law at each value, just below the mode (k), and the distance (k + 1).
        rows: list[np.ndarray] = []
        limits: list[float] = []

        def at_most(limit: float, **terms: float) -> None:
            row = np.zeros(k + 2)
            for name, factor in terms.items():
                row[int(name[1:])] += factor
            rows.append(row)  # noqa: B023
            limits.append(limit)  # noqa: B023

        distance, before = f"v{k + 1}", f"v{k}"
        for i in range(k):
            above = upto[i] if i == mode else below[i]
            at_most(-upto[i], **{f"v{i}": -1, distance: -1})
            at_most(above, **{f"v{i}": 1, distance: -1})
        at_most(below[mode], **{before: 1, distance: -1})
        at_most(0, **{before: 1, f"v{mode}": -1})
        left = [f"v{i}" for i in range(mode)] + [before]
        right = [f"v{i}" for i in range(mode, k)]
        for names, at, sign in ((left, x[: mode + 1], 1), (right, x[mode:], -1)):
            for a, b in pairwise(names):
                at_most(0, **{a: 1, b: -1})
            for j in range(1, len(names) - 1):
                first, second = at[j] - at[j - 1], at[j + 1] - at[j]
                at_most(
                    0,
                    **{
                        names[j]: sign * (first + second),
                        names[j - 1]: -sign * second,
                        names[j + 1]: -sign * first,
                    },
                )
        cost = np.eye(k + 2)[k + 1]
        found.append(linprog(cost, A_ub=np.array(rows), b_ub=limits, bounds=[(0, 1)] * (k + 2)).fun)
    return max(min(found), 1 / (2 * n))


@given(st.lists(st.integers(0, 30).map(float), min_size=1, max_size=10))
def test_the_dip_agrees_with_a_linear_programme(values: list[float]) -> None:
    assert dip(values) == pytest.approx(dip_by_linear_programme(values), abs=1e-7)


def test_worked_dips() -> None:
    assert dip([1, 1.1, 1.2, 1.3, 1.4, 5, 5.1, 5.2, 5.3, 5.4]) == pytest.approx(0.225)
    # Evenly spaced values are as near to one mode as n values can be, which is 1/(2n) and not 0.
    assert dip(range(1, 11)) == pytest.approx(0.05)


@pytest.mark.parametrize("n", [10, 20, 50])
def test_uniform_values_are_refused_one_time_in_twenty(n: int) -> None:
    rng = np.random.default_rng(100 + n)
    refused = np.mean([dip_p(rng.random(n)) < 0.05 for _ in range(1000)])
    assert refused == pytest.approx(0.05, abs=0.021)  # Three standard errors.


def test_two_modes_are_found_with_their_sizes() -> None:
    rng = np.random.default_rng(6)
    values = np.concatenate([rng.normal(80, 2, 12), rng.normal(120, 2, 8), [np.inf]])
    low, high = modes(values)
    assert (low.n, high.n) == (12, 8)
    assert (low.median, high.median) == pytest.approx((80, 120), abs=3)
    assert modes(rng.normal(size=40)) == ()
    assert modes([5.0] * 40) == ()


def test_two_modes_are_found_in_three_of_four_series_of_ten() -> None:
    rng = np.random.default_rng(7)
    found = np.mean([bool(modes(rng.choice([80, 120], 10) + rng.normal(0, 2, 10))) for _ in range(300)])
    assert found > 0.72  # 0.79 as published, less three standard errors.
