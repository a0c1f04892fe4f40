"""The mean of a series whose neighbours may resemble each other, with an interval.

Means of long stretches of neighbours are nearly independent where the likeness is short against a stretch, so
the interval is Student's of these.

Source: Law, Simulation Modeling and Analysis, section 9.5.3 (batch means).
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from crosswind.stats.bounded import Bounded
from crosswind.stats.values import finite_values

BATCHES = 5


def batch_mean(values: ArrayLike, confidence: float = 0.95) -> Bounded | None:
    """Return the mean of a series; None of fewer than two values a batch.

    Args:
        values: shape (n,), in the order of time, any unit. What does not fill a batch counts for the mean.
        confidence: in (0, 1).
    """
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    series = finite_values(values, "series")
    length = series.size // BATCHES
    if length < 2:
        return None
    means = series[: BATCHES * length].reshape(BATCHES, length).mean(axis=1)
    half = float(stats.t.ppf((1 + confidence) / 2, BATCHES - 1) * means.std(ddof=1)) / math.sqrt(BATCHES)
    mean = float(series.mean())
    return Bounded(mean, mean - half, mean + half)
