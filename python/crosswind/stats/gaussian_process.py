"""Gaussian process regression: a surface from few points, and how sure it is where there are none.

A constant mean and a Matern 5/2 covariance with a length of its own for each coordinate, so that a factor
without an effect gets a long one. Lengths, variance and noise maximise the marginal likelihood, from three
fixed starts: the same values give the same surface.

Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equations 2.23 to 2.30, 4.17.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.values import Refused

_Array = NDArray[np.float64]

_STARTS = (0.2, 0.6, 2.0)  # of all lengths, in units of the coordinates
_LENGTHS = (0.05, 10.0)
_NOISE = (1e-4, 2.0)  # standard deviation, as a share of that of the values
FEWEST = 3  # values that a surface takes
_POINTS_MAX = 2000  # its time grows with the cube


@dataclass(frozen=True)
class GaussianProcess:
    """A fitted surface.

    Attributes:
        points: shape (n, d); the coordinates should span about 1 each.
        values: shape (n,), any unit.
        lengths: shape (d,), how far apart points are that know little of each other.
        deviation: of the surface around its mean, in the unit of the values.
        noise: standard deviation of one value around the surface, in the unit of the values.
    """

    points: _Array
    values: _Array
    lengths: _Array
    deviation: float
    noise: float

    def predict(self, at: _Array) -> tuple[_Array, _Array]:
        """Return the surface and its standard deviation, less the noise of a value, at points (m, d)."""
        from scipy import linalg

        factor = linalg.cho_factor(
            _with_noise(self._covariance(self.points, self.points), self.noise), lower=True
        )
        across = self._covariance(at, self.points)
        mean = self.values.mean()
        surface = mean + across @ linalg.cho_solve(factor, self.values - mean)
        known = np.einsum("ij,ji->i", across, linalg.cho_solve(factor, across.T))
        return surface, np.sqrt(np.maximum(self.deviation**2 - known, 0.0))

    def with_point(self, point: _Array) -> GaussianProcess:
        """Return the process with one more value, the one it expects at `point`: its certainty changes."""
        expected, _ = self.predict(point[np.newaxis])
        return GaussianProcess(
            np.vstack([self.points, point]),
            np.append(self.values, expected),
            self.lengths,
            self.deviation,
            self.noise,
        )

    def _covariance(self, left: _Array, right: _Array) -> _Array:
        return self.deviation**2 * _matern(left / self.lengths, right / self.lengths)


def fit_gaussian_process(points: _Array, values: _Array) -> GaussianProcess:
    """Return the process under which the values are likeliest.

    Args:
        points: shape (n, d), coordinates that span about 1 each.
        values: shape (n,), any unit, one per trial; a point may be there several times.
    Raises: Refused: fewer than three values, more than 2000, or one that is not finite.
    """
    from scipy import optimize

    if not FEWEST <= values.size <= _POINTS_MAX or not np.isfinite(values).all():
        raise Refused(f"{values.size} values: a surface takes {FEWEST} to {_POINTS_MAX}, all finite")
    spread = float(values.std())
    if spread == 0:
        return GaussianProcess(points, values, np.ones(points.shape[1]), 1e-9, 1e-9)
    standard = (values - values.mean()) / spread
    bounds = [
        *([tuple(math.log(end) for end in _LENGTHS)] * points.shape[1]),
        (-2.0, 3.0),
        tuple(math.log(end) for end in _NOISE),
    ]
    found = min(
        (
            optimize.minimize(
                _misfit, [*([math.log(start)] * points.shape[1]), 0.0, math.log(0.1)], (points, standard),
                method="L-BFGS-B", bounds=bounds,
            )
            for start in _STARTS
        ),
        key=lambda result: float(result.fun),
    ).x  # fmt: skip
    *lengths, deviation, noise = np.exp(found)
    return GaussianProcess(points, values, np.array(lengths), deviation * spread, noise * spread)


def _misfit(parameters: _Array, points: _Array, values: _Array) -> float:
    """Return the negative logarithm of the marginal likelihood, less a constant."""
    from scipy import linalg

    *lengths, deviation, noise = np.exp(parameters)
    scaled = points / np.array(lengths)
    covariance = _with_noise(deviation**2 * _matern(scaled, scaled), noise)
    lower = linalg.cholesky(covariance, lower=True)
    solved = linalg.cho_solve((lower, True), values)
    return float(values @ solved / 2 + np.log(np.diag(lower)).sum())


def _matern(left: _Array, right: _Array) -> _Array:
    distance = math.sqrt(5) * np.sqrt(((left[:, np.newaxis] - right) ** 2).sum(axis=2))
    return np.asarray((1 + distance + distance**2 / 3) * np.exp(-distance))


def _with_noise(covariance: _Array, noise: float) -> _Array:
    return covariance + noise**2 * np.eye(len(covariance))
