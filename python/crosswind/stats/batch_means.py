"""The mean of a series with correlated neighbours, with an interval.

Means of long batches are nearly independent if the correlation time is short compared with a batch. The
interval is Student's interval of these means.

Source: Law, Simulation Modeling and Analysis, section 9.5.3 (batch means).
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from crosswind.stats.bounded import Bounded
from crosswind.stats.student_mean import student_mean
from crosswind.stats.values import finite_values

BATCHES = 5


def batch_mean(values: ArrayLike, confidence: float = 0.95) -> Bounded | None:
    """Return the mean of a series; None for fewer than two values per batch.

    Args:
        values: shape (n,), in the order of time, any unit. Values after the last batch count for the mean
        only. confidence: in (0, 1).
    """
    series = finite_values(values, "series")
    length = series.size // BATCHES
    if length < 2:
        return None
    found = student_mean(series[: BATCHES * length].reshape(BATCHES, length).mean(axis=1), confidence)
    assert found is not None, "there are several batches"
    mean, half = float(series.mean()), found.high - found.value
    return Bounded(mean, mean - half, mean + half)
