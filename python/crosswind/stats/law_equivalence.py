"""Whether samples are near enough to a law: distances with an upper bound, against a stated margin."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from crosswind.stats.distance import Function, ks_bound, ks_distance, wasserstein_distance


@dataclass(frozen=True)
class Nearness:
    """A distance as found, and what the true one is below with the stated confidence."""

    distance: float
    upper: float
    margin: float

    @property
    def shown(self) -> bool:
        """Whether even the upper bound is within the margin."""
        return self.upper <= self.margin


def ks_equivalence(
    samples: ArrayLike, cdf: Function, margin: float, *, alpha: float = 0.05, step: float = 0.0
) -> Nearness:
    """Return whether sup |F - G| <= margin is shown; this takes `samples_for_margin` samples and more.

    Args:
        samples: shape (n,), independent, any unit.
        cdf: the law, for an array.
        margin: in (0, 1), of probability.
        alpha: the chance of calling a law near that is not.
        step: as in `ks_distance`.
    Source: Dvoretzky, Kiefer and Wolfowitz 1956, with the constant of Massart 1990.
    """
    n = len(samples)  # type: ignore[arg-type]
    distance = ks_distance(samples, cdf, step=step)
    return Nearness(distance, distance + ks_bound(n, alpha), margin)


def wasserstein_equivalence(
    samples: ArrayLike, quantile: Function, margin: float, *, span: float, alpha: float = 0.05
) -> Nearness:
    """Return whether a Wasserstein-1 distance of at most `margin` is shown, for values within a span.

    No two laws on a span are farther apart than the span times their largest difference in probability, so
    the bound on the latter bounds what the samples can have missed.

    Args:
        samples: shape (n,), independent, any unit such as ns.
        quantile: the law's F^-1(p).
        margin: in the unit of the samples.
        span: largest less smallest value that either law can take, in that unit.
    """
    n = len(samples)  # type: ignore[arg-type]
    distance = wasserstein_distance(samples, quantile)
    return Nearness(distance, distance + span * ks_bound(n, alpha), margin)


def samples_for_margin(margin: float, alpha: float = 0.05) -> int:
    """Return the fewest samples whose bound is the margin itself: ln(2 / alpha) / (2 margin^2)."""
    return math.ceil(math.log(2 / alpha) / (2 * margin**2))
