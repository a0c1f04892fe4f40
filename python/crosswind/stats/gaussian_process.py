"""Gaussian process regression: a surface from few points, with its uncertainty between them.

It has a constant mean and a Matern 5/2 covariance. Its distance is fitted to effects that networks have:

* each coordinate has its own length; a factor without an effect gets a long one;
* each coordinate is bent (`bend`), because a step has an effect at some levels only;
* one direction across all coordinates is added, because factors act together, as rate and delay do in a
  bandwidth-delay product.

These parameters, the variance and the noise maximise the posterior likelihood from fixed starting points, so
the same values give the same surface. Only bends have a prior, which is towards straight.

Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equations 2.23 to 2.30, 4.17;
5.9 for the slopes; 4.22 for the direction (the factor analysis distance).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.bend import bent, bent_slopes
from crosswind.stats.values import Refused

_Array = NDArray[np.float64]

_START = 0.4  # of all lengths, in units of the coordinates
_LENGTHS = (0.05, 10.0)
_DIRECTION = (-20.0, 20.0)  # each part, per unit of the coordinates: as far as the shortest length
_DEVIATION = (math.exp(-2), math.exp(3))  # of the surface, as a share of that of the values
_NOISE = (1e-4, 2.0)  # standard deviation, as a share of that of the values
_BENDS = (math.exp(-2), math.exp(2))
_BEND_SPREAD = 0.75  # standard deviation of the prior of the logarithm of a bend
FEWEST = 3  # values that a surface needs
_POINTS_MAX = 2000  # the time grows with its cube


@dataclass(frozen=True)
class GaussianProcess:
    """A fitted surface.

    Attributes:
        points: shape (n, d), in [0, 1].
        values: shape (n,), any unit.
        lengths: shape (d,), distance of bent points above which their correlation is small.
        direction: shape (d,), per unit of the bent coordinates; 0 where factors do not act together.
        bends: shape (2, d), a and b of each coordinate, 1 where it is straight.
        deviation: of the surface around its mean, in the unit of the values.
        noise: standard deviation of one value around the surface, in the unit of the values.
    """

    points: _Array
    values: _Array
    lengths: _Array
    direction: _Array
    bends: _Array
    deviation: float
    noise: float

    def predict(self, at: _Array) -> tuple[_Array, _Array]:
        """Return the surface at points (m, d), and its covariance (m, m) without the noise of a value."""
        from scipy import linalg

        factor = linalg.cho_factor(
            self._covariance(self.points, self.points) + self.noise**2 * np.eye(len(self.points)), lower=True
        )
        across = self._covariance(at, self.points)
        mean = self.values.mean()
        surface = mean + across @ linalg.cho_solve(factor, self.values - mean)
        return surface, self._covariance(at, at) - across @ linalg.cho_solve(factor, across.T)

    def _covariance(self, left: _Array, right: _Array) -> _Array:
        apart = bent(left, *self.bends)[:, np.newaxis] - bent(right, *self.bends)
        distance = ((apart / self.lengths) ** 2).sum(axis=2) + (apart @ self.direction) ** 2
        return self.deviation**2 * _matern(distance)[0]


def fit_gaussian_process(points: _Array, values: _Array) -> GaussianProcess:
    """Return the process that maximises the likelihood of the values.

    Args:
        points: shape (n, d), in [0, 1].
        values: shape (n,), any unit, one per trial; a point may be repeated.
    Raises: Refused: fewer than three values, more than 2000, or one that is not finite.
    """
    from scipy import optimize

    if not FEWEST <= values.size <= _POINTS_MAX or not np.isfinite(values).all():
        raise Refused(f"{values.size} values: a surface needs {FEWEST} to {_POINTS_MAX}, all finite")
    d = points.shape[1]
    spread = float(values.std())
    if spread == 0:
        return GaussianProcess(points, values, np.ones(d), np.zeros(d), np.ones((2, d)), 1e-9, 1e-9)
    standard = (values - values.mean()) / spread
    lengths, bends, deviation, noise = (
        tuple(math.log(end) for end in ends) for ends in (_LENGTHS, _BENDS, _DEVIATION, _NOISE)
    )
    bounds = [*[lengths] * d, *[bends] * 2 * d, *[_DIRECTION] * d, deviation, noise]
    found = min(
        (
            optimize.minimize(
                _misfit, _start(signs), (points, standard), jac=True, method="L-BFGS-B", bounds=bounds
            )
            for signs in product(
                (1.0,), *[(1.0, -1.0)] * (d - 1)
            )  # A direction and its opposite are the same.
        ),
        key=lambda result: float(result.fun),
    ).x
    fitted = _Parameters(found, d)
    return GaussianProcess(
        points, values, fitted.lengths, fitted.direction, fitted.bends, fitted.deviation * spread,
        fitted.noise * spread,
    )  # fmt: skip


class _Parameters:
    """The fitted parameters in one array, all as logarithms except the direction."""

    def __init__(self, array: _Array, d: int) -> None:
        self.lengths = np.exp(array[:d])
        self.log_bends = array[d : 3 * d]
        self.bends = np.exp(self.log_bends).reshape(2, d)
        self.direction = array[3 * d : 4 * d]
        self.deviation, self.noise = (float(value) for value in np.exp(array[4 * d :]))


def _start(signs: tuple[float, ...]) -> list[float]:
    d = len(signs)
    return [*[math.log(_START)] * d, *[0.0] * 2 * d, *(s / (2 * _START) for s in signs), 0.0, math.log(0.1)]


def _misfit(array: _Array, points: _Array, values: _Array) -> tuple[float, _Array]:
    """Return the negative log posterior likelihood, without a constant, and its slopes."""
    from scipy import linalg

    n, d = points.shape
    at = _Parameters(array, d)
    places = bent(points, *at.bends)
    apart = places[:, np.newaxis] - places
    scaled, along = (apart / at.lengths) ** 2, apart @ at.direction
    correlation, falls = _matern(scaled.sum(axis=2) + along**2)
    covariance = at.deviation**2 * correlation
    lower = linalg.cholesky(covariance + at.noise**2 * np.eye(n), lower=True)
    solved = linalg.cho_solve((lower, True), values)
    misfit = values @ solved / 2 + np.log(np.diag(lower)).sum()
    misfit += at.log_bends @ at.log_bends / (2 * _BEND_SPREAD**2)

    # Equation 5.9: half the trace of `left` times the covariance's slope; all but the last two are slopes of
    # the squared distance.
    left = linalg.cho_solve((lower, True), np.eye(n)) - np.outer(solved, solved)
    of_distance = left * at.deviation**2 * falls / 2
    pull = (
        2 * of_distance[:, :, np.newaxis] * (apart / at.lengths**2 + along[:, :, np.newaxis] * at.direction)
    )
    of_bends = [
        (pull * (slope[:, np.newaxis] - slope)).sum(axis=(0, 1)) for slope in bent_slopes(points, *at.bends)
    ]
    slopes = [
        -2 * np.einsum("ij,ijk->k", of_distance, scaled),
        np.concatenate(of_bends) + at.log_bends / _BEND_SPREAD**2,
        2 * np.einsum("ij,ijk->k", of_distance * along, apart),
        [(left * covariance).sum(), at.noise**2 * np.trace(left)],
    ]
    return float(misfit), np.concatenate(slopes)


def _matern(squared: _Array) -> tuple[_Array, _Array]:
    """Return the correlation at squared distances, and its derivative by them."""
    distance = np.sqrt(5 * squared)
    decay = np.exp(-distance)
    return (1 + distance + distance**2 / 3) * decay, -5 / 6 * (1 + distance) * decay
