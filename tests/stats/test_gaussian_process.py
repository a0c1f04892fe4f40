"""A Gaussian process finds a surface again, and knows where it knows little."""

import numpy as np
import pytest

from crosswind.stats.gaussian_process import GaussianProcess, fit_gaussian_process
from crosswind.stats.values import Refused

GRID = np.array([[x, y] for x in np.linspace(0, 1, 6) for y in np.linspace(0, 1, 6)])


def test_one_point_tells_what_the_formula_says() -> None:
    # k(d) = (1 + z + z^2/3) exp(-z), z = sqrt(5) d: at d = 1, 0.5239941. With deviation 2 and noise 1 the
    # value at distance 1 is known by 4 * 0.5239941 / sqrt(4 + 1).
    process = GaussianProcess(np.array([[0.0]]), np.array([3.0]), np.array([1.0]), 2.0, 1.0)
    surface, deviation = process.predict(np.array([[1.0], [100.0]]))
    assert surface == pytest.approx([3.0, 3.0])
    assert deviation == pytest.approx([np.sqrt(4 - (4 * 0.5239941) ** 2 / 5), 2.0], rel=1e-6)


def test_a_surface_is_found_again_and_the_noise_with_it() -> None:
    noise = np.random.default_rng(2).normal(scale=0.05, size=len(GRID))
    process = fit_gaussian_process(GRID, np.sin(3 * GRID[:, 0]) + noise)
    surface, deviation = process.predict(GRID)
    assert np.abs(surface - np.sin(3 * GRID[:, 0])).max() < 0.1
    assert 0.03 < process.noise < 0.07
    assert process.lengths[1] > 3 * process.lengths[0]  # The second coordinate does nothing.
    assert deviation.max() < 0.06


def test_one_more_point_makes_it_more_certain_there_and_expects_the_same() -> None:
    process = fit_gaussian_process(GRID[:12], np.cos(GRID[:12].sum(axis=1)))
    at = np.array([[1.0, 1.0]])
    more = process.with_point(at[0])
    (before, doubt), (after, less) = process.predict(at), more.predict(at)
    assert less[0] < doubt[0]
    assert after == pytest.approx(before, abs=0.05)


def test_values_that_are_all_the_same_are_a_plain() -> None:
    surface, deviation = fit_gaussian_process(GRID, np.ones(len(GRID))).predict(GRID)
    assert surface == pytest.approx(np.ones(len(GRID)))
    assert deviation.max() < 1e-6


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, np.nan, 2.0]])
def test_too_few_values_and_those_that_are_none_are_refused(values: list[float]) -> None:
    with pytest.raises(Refused, match="all finite"):
        fit_gaussian_process(np.zeros((len(values), 2)), np.array(values))
