"""A Gaussian process finds a surface again, and knows where it knows little."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from crosswind.stats.gaussian_process import GaussianProcess, _misfit, fit_gaussian_process
from crosswind.stats.values import Refused

GRID = np.array([[x, y] for x in np.linspace(0, 1, 6) for y in np.linspace(0, 1, 6)])


def test_one_point_tells_what_the_formula_says() -> None:
    # k(d) = (1 + z + z^2/3) exp(-z), z = sqrt(5) d: at d = 1, 0.5239941. With deviation 2 and noise 1 the
    # value at distance 1 is known by 4 * 0.5239941 / sqrt(4 + 1).
    process = GaussianProcess(
        np.array([[0.0]]), np.array([3.0]), np.array([1.0]), np.array([0.0]), np.ones((2, 1)), 2.0, 1.0
    )
    surface, covariance = process.predict(np.array([[0.0], [1.0]]))
    assert surface == pytest.approx([3.0, 3.0])
    assert np.diag(covariance) == pytest.approx([4 - 4**2 / 5, 4 - (4 * 0.5239941) ** 2 / 5], rel=1e-6)
    assert covariance[0, 1] == pytest.approx(4 * 0.5239941 - 4 * 4 * 0.5239941 / 5, rel=1e-6)


def test_a_surface_is_found_again_and_the_noise_with_it() -> None:
    noise = np.random.default_rng(2).normal(scale=0.05, size=len(GRID))
    process = fit_gaussian_process(GRID, np.sin(3 * GRID[:, 0]) + noise)
    surface, covariance = process.predict(GRID)
    assert np.abs(surface - np.sin(3 * GRID[:, 0])).max() < 0.1
    assert 0.03 < process.noise < 0.07
    apart = 1 / process.lengths**2 + process.direction**2
    assert apart[1] < apart[0] / 9  # The second coordinate does nothing.
    assert np.sqrt(np.diag(covariance)).max() < 0.06


def test_a_step_is_stretched_and_a_kink_across_both_coordinates_is_followed() -> None:
    noise = np.random.default_rng(3).normal(scale=0.02, size=len(GRID))
    late = fit_gaussian_process(GRID, np.where(GRID[:, 0] > 0.9, 1.0, 0.0) + noise)
    assert late.bends[0, 0] > 1.5
    kink = np.minimum(GRID.sum(axis=1), 0.9)
    across = fit_gaussian_process(GRID[::2], (kink + noise)[::2])
    assert np.prod(across.direction) > 0
    assert np.abs(across.predict(GRID)[0] - kink).max() < 0.1


@pytest.mark.parametrize("d", [1, 2, 3])
def test_slopes_of_the_likelihood_are_those_of_small_steps(d: int) -> None:
    generator = np.random.default_rng(d)
    points, values = generator.random((20, d)), generator.normal(size=20)
    at = generator.normal(scale=0.4, size=4 * d + 2)
    steps = approx_fprime(at, lambda x: _misfit(x, points, values)[0], 1e-7)
    assert _misfit(at, points, values)[1] == pytest.approx(steps, abs=1e-4)


def test_values_that_are_all_the_same_are_a_plain() -> None:
    surface, covariance = fit_gaussian_process(GRID, np.ones(len(GRID))).predict(GRID)
    assert surface == pytest.approx(np.ones(len(GRID)))
    assert np.abs(covariance).max() < 1e-12


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, np.nan, 2.0]])
def test_too_few_values_and_those_that_are_none_are_refused(values: list[float]) -> None:
    with pytest.raises(Refused, match="all finite"):
        fit_gaussian_process(np.zeros((len(values), 2)), np.array(values))
