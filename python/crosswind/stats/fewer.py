"""The result of fewer trials: how often their quantile is outside the interval of all trials.

Few repetitions are often judged like this (Uta et al., NSDI '20, Figure 3): the median of the first 3 or 10
runs is right if it is within the interval of 50. The first runs are a random choice. Over all choices of s
from n values, the j-th smallest chosen value is x_(a), and the next one is x_(b), with probability

    P(a, b) = C(a-1, j-1) C(n-b, s-j-1) / C(n, s)        for a < b,

so no random numbers are needed. If the quantile is one of the values (a median of 3), the result depends on n
and s only: 3 of 50 miss in 53 % of all choices, for any values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.quantile import sorted_values
from crosswind.stats.ranks import quantile_ranks
from crosswind.stats.values import Refused


@dataclass(frozen=True)
class FewerTrials:
    """The `p`-quantiles of `few` of `n` values, compared with the interval of all values."""

    p: float
    confidence: float
    n: int
    few: int
    missed: float  # share of all choices with a quantile outside the interval


def fewer_trials(values: ArrayLike, few: int, *, p: float = 0.5, confidence: float = 0.95) -> FewerTrials:
    """Return how often the quantile (type 7) of `few` values misses the interval of all of them.

    Args:
        values: shape (n,), one per independent repetition, any unit, +inf for one that never ended; a few
            thousand at most, because n^2 pairs of ranks are added up.
        few: from 1 to n.
        p: in (0, 1).
        confidence: of the exact equal-tailed interval of all, in (0, 1).
    Raises: Refused: a value is NaN, or there are too few for an interval.
    Source: Uta et al., NSDI '20, section 2.1; ranks of a sample without replacement from David and Nagaraja,
        Order Statistics, 2003, section 3.7.
    """
    ordered = sorted_values(values)
    n = ordered.size
    if not 1 <= few <= n:
        raise Refused(f"few: {few} is not from 1 to {n}, the number of values")
    ranks = quantile_ranks(n, p, confidence)
    if ranks.low is None or ranks.high is None:
        raise Refused(f"{n} values have no {confidence:.0%} interval of the {p:g}-quantile; give more")
    low, high = ordered[ranks.low - 1], ordered[ranks.high - 1]
    place = (few - 1) * p
    lower, share = math.floor(place) + 1, place - math.floor(place)
    if share == 0:
        missed = (ordered < low) | (ordered > high)
        chance = np.exp(_single(n, few, lower))
        return FewerTrials(p, confidence, n, few, float(chance[missed].sum()))
    quantiles = (1 - share) * ordered[:, None] + share * ordered[None, :]
    missed = (quantiles < low) | (quantiles > high)
    return FewerTrials(p, confidence, n, few, float(np.exp(_pairs(n, few, lower))[missed].sum()))


def _single(n: int, few: int, rank: int) -> NDArray[np.float64]:
    """Return the log probability that the chosen value of this rank has rank 1..n of all; shape (n,)."""
    a = np.arange(1, n + 1)
    return _choose(a - 1, rank - 1) + _choose(n - a, few - rank) - _choose(n, few)


def _pairs(n: int, few: int, rank: int) -> NDArray[np.float64]:
    """Return the same for two chosen values, of `rank` and the next, and ranks a and b; shape (n, n)."""
    a, b = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)[None, :]
    ways = _choose(a - 1, rank - 1) + _choose(n - b, few - rank - 1) - _choose(n, few)
    return np.where(a < b, ways, -np.inf)


def _choose(n: ArrayLike, k: int) -> NDArray[np.float64]:
    """Return the logarithm of C(n, k); -inf where n < k."""
    from scipy.special import gammaln  # Slow to import, and not needed by a `crosswind --help`.

    many = np.asarray(n, dtype=np.float64)
    enough = many >= k
    safe = np.where(enough, many, k)
    return np.where(enough, gammaln(safe + 1) - gammaln(k + 1) - gammaln(safe - k + 1), -np.inf)
