"""Distances of samples from a known distribution: Kolmogorov-Smirnov and Wasserstein-1.

There is no p value: with a million packets, any small error of a distribution would be significant. Instead
the distance is compared with a bound.

scipy's `kstest` needs continuous distributions, and its `wasserstein_distance` compares two samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.quantile import sorted_values

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def ks_distance(samples: ArrayLike, cdf: Function, *, step: float = 0.0) -> float:
    """Return sup |F_n - F|, the largest distance between two distribution functions: the samples' and F.

    Args:
        samples: shape (n,), n >= 1, any unit.
        cdf: F(x) = P(X <= x), for an array.
        step: distance between the possible values of a discrete distribution (1 for whole nanoseconds or
            counts); 0 for a continuous one. Just below a value, a discrete F is that of the previous value;
            without this a distribution of few values would never fit.
    Returns: in [0, 1].
    """
    ordered = sorted_values(samples)
    values, counts = np.unique(ordered, return_counts=True)
    upto = np.cumsum(counts) / ordered.size
    before = upto - counts / ordered.size
    # Between two samples F_n is flat and F only grows, so the supremum is at a sample or just below one.
    return float(max(np.max(np.abs(upto - cdf(values))), np.max(np.abs(before - cdf(values - step)))))


def ks_bound(n: int, alpha: float) -> float:
    """Return the distance that n samples of exactly this distribution exceed with probability alpha at most.

    It holds for discrete distributions too.

    Source: Dvoretzky, Kiefer and Wolfowitz 1956, with the constant of Massart 1990.
    """
    return math.sqrt(math.log(2 / alpha) / (2 * n))


def wasserstein_distance(samples: ArrayLike, quantile: Function, *, points: int = 8) -> float:
    """Return the Wasserstein-1 distance, the mean distance by which probability must be moved.

    It is the mean of |F_n^-1(p) - F^-1(p)| over p, here over `points` evenly spaced p for each sample.

    Args:
        samples: shape (n,), n >= 1, any unit.
        quantile: F^-1(p) for an array of p in (0, 1).
        points: evaluated for each sample, at least 1.
    Returns: in the unit of the samples.
    """
    ordered = sorted_values(samples)
    cells = ordered.size * points
    p = (np.arange(cells) + 0.5) / cells
    return float(np.mean(np.abs(np.repeat(ordered, points) - quantile(p))))
