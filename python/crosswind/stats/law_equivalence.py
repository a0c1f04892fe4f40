"""Test whether samples are near enough to a distribution: distances with upper bounds and a margin."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from crosswind.stats.distance import Function, ks_bound, ks_distance, wasserstein_distance


@dataclass(frozen=True)
class DistanceBound:
    """A measured distance, and an upper bound of the true one with the stated confidence."""

    distance: float
    upper: float
    margin: float

    @property
    def shown(self) -> bool:
        """Whether the upper bound is within the margin."""
        return self.upper <= self.margin


def ks_equivalence(
    samples: ArrayLike, cdf: Function, margin: float, *, alpha: float = 0.05, step: float = 0.0
) -> DistanceBound:
    """Return whether sup |F - G| <= margin is shown; this needs at least `samples_for_margin` samples.

    Args:
        samples: shape (n,), independent, any unit.
        cdf: of the distribution, for an array.
        margin: in (0, 1), of probability.
        alpha: the probability of a false result.
        step: as in `ks_distance`.
    Source: Dvoretzky, Kiefer and Wolfowitz 1956, with the constant of Massart 1990.
    """
    n = len(samples)  # type: ignore[arg-type]
    distance = ks_distance(samples, cdf, step=step)
    return DistanceBound(distance, distance + ks_bound(n, alpha), margin)


def wasserstein_equivalence(
    samples: ArrayLike, quantile: Function, margin: float, *, span: float, alpha: float = 0.05
) -> DistanceBound:
    """Return whether a Wasserstein-1 distance of at most `margin` is shown, for values within a span.

    The distance of two distributions is at most the span times their largest difference in probability. So
    the bound on that difference gives a bound on the sampling error.

    Args:
        samples: shape (n,), independent, any unit such as ns.
        quantile: F^-1(p) of the distribution.
        margin: in the unit of the samples.
        span: difference between the largest and the smallest possible value, in that unit.
    """
    n = len(samples)  # type: ignore[arg-type]
    distance = wasserstein_distance(samples, quantile)
    return DistanceBound(distance, distance + span * ks_bound(n, alpha), margin)


def samples_for_margin(margin: float, alpha: float = 0.05) -> int:
    """Return the fewest samples whose bound is the margin itself: ln(2 / alpha) / (2 margin^2)."""
    return math.ceil(math.log(2 / alpha) / (2 * margin**2))
