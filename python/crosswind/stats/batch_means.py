"""The mean of a series whose neighbours may resemble each other, with an interval.

Means of long stretches of neighbours are nearly independent where the likeness is short against a stretch, so
the interval is Student's of these.

Source: Law, Simulation Modeling and Analysis, section 9.5.3 (batch means).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from crosswind.stats.bounded import Bounded
from crosswind.stats.student_mean import student_mean
from crosswind.stats.values import finite_values

BATCHES = 5


def batch_mean(values: ArrayLike, confidence: float = 0.95) -> Bounded | None:
    """Return the mean of a series; None of fewer than two values a batch.

    Args:
        values: shape (n,), in the order of time, any unit. What does not fill a batch counts for the mean.
        confidence: in (0, 1).
    """
    series = finite_values(values, "series")
    length = series.size // BATCHES
    if length < 2:
        return None
    found = student_mean(series[: BATCHES * length].reshape(BATCHES, length).mean(axis=1), confidence)
    assert found is not None, "there are several batches"
    mean, half = float(series.mean()), found.high - found.value
    return Bounded(mean, mean - half, mean + half)
