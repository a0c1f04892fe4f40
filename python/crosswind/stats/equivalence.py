"""Two one-sided tests: whether two methods are equivalent within a stated margin.

A test of difference finds nothing where too little was measured. A test of equivalence needs evidence
instead: the data must exclude a difference as large as the margin, on both sides. scipy has no such test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Alike = Literal["same", "different", "undecided"]


def alike(low: float, high: float, least: float, most: float) -> Alike:
    """Return whether an interval lies within a margin, beyond it, or neither.

    Args:
        low, high: the interval of a difference or a ratio.
        least, most: the margin, within which a difference does not matter, in the same unit.
    """
    if least <= low and high <= most:
        return "same"
    return "different" if high < least or low > most else "undecided"


@dataclass(frozen=True)
class Equivalence:
    """The result of the test, in the unit of the values."""

    difference: float  # Mean of b - a.
    low: float  # Confidence interval of the difference, at 1 - 2 alpha.
    high: float
    margin: float
    p: float  # The larger of the two one-sided p values.
    alpha: float

    @property
    def shown(self) -> bool:
        """Whether the interval lies within the margin: p < alpha."""
        return self.p < self.alpha


def tost_paired(a: ArrayLike, b: ArrayLike, margin: float, alpha: float = 0.05) -> Equivalence:
    """Test whether the mean of b - a is within `margin`, from paired measurements.

    Args:
        a: shape (n,), n >= 2, any unit; one value per round, not per packet.
        b: values of the other method in the same rounds, same unit.
        margin: above 0; the largest difference that does not matter.
        alpha: in (0, 0.5); the probability of a false equivalence where the difference equals the margin.
    Raises: ValueError: fewer than two rounds, rounds that do not match, or a margin that is not above 0.
    Source: Schuirmann 1987; paired t, because both methods share the state of the machine in a round.
    """
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    before, after = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if before.shape != after.shape or before.ndim != 1 or before.size < 2:
        raise ValueError(
            f"rounds of shape {before.shape} and {after.shape}: give the same two or more rounds of both"
        )
    if not margin > 0:
        raise ValueError(f"margin: {margin} is not above 0; no two measurements are exactly equal")
    differences = after - before
    n = differences.size
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    if error == 0:
        return Equivalence(mean, mean, mean, margin, 0.0 if abs(mean) < margin else 1.0, alpha)
    half = float(stats.t.ppf(1 - alpha, n - 1)) * error
    below = float(
        stats.t.sf((mean + margin) / error, n - 1)
    )  # Null hypothesis: the difference is -margin or less.
    above = float(stats.t.cdf((mean - margin) / error, n - 1))  # Null hypothesis: it is +margin or more.
    return Equivalence(mean, mean - half, mean + half, margin, max(below, above), alpha)
