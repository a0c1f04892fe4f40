"""Bend coordinates so that a surface changes at the same speed everywhere.

u = 1 - (1 - x^a)^b for x in [0, 1], Kumaraswamy's distribution. It is straight with a = b = 1, steep at the
end with a large a, at the start with a small a, and in the middle if both are large.

Source: Snoek et al., Input Warping for Bayesian Optimization of Non-Stationary Functions, ICML 2014.
"""

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]

_EDGE = 1e-9  # At exactly 0 and 1 the slopes would be logarithms of 0.


def bent(points: _Array, a: _Array, b: _Array) -> _Array:
    """Return points (n, d) with each coordinate bent by its a and b, shape (d,), both above 0."""
    return np.asarray(1 - (1 - np.clip(points, _EDGE, 1 - _EDGE) ** a) ** b)


def bent_slopes(points: _Array, a: _Array, b: _Array) -> tuple[_Array, _Array]:
    """Return the derivatives of bent points (n, d) by the logarithm of a, and by that of b."""
    inside = np.clip(points, _EDGE, 1 - _EDGE)
    power = inside**a
    rest = 1 - power
    return b * rest ** (b - 1) * power * np.log(inside) * a, -(rest**b) * np.log(rest) * b
