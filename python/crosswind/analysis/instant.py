"""Read when rows were measured, and check that they are in that order."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray


def instant_s(cell: str) -> float | None:
    """Return the instant in a cell, in seconds since any origin; None if there is none.

    Args:
        cell: a number in the unit of all rows, or a date of ISO 8601, in UTC unless it has a time zone.
    """
    try:
        number = float(cell)
    except ValueError:
        pass
    else:
        return number if math.isfinite(number) else None
    try:
        date = datetime.fromisoformat(cell.strip())
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def first_misplaced(
    at_s: NDArray[np.float64], trial_of: NDArray[np.int64] | None, group_of: NDArray[np.int64]
) -> int | None:
    """Return the first row of a trial that ended before the one above it in its group began; None if none.

    Overlapping trials are accepted: their times may start anew, or they may have run in parallel.

    Args:
        at_s: shape (n,), the instant of each row.
        trial_of: shape (n,), numbered as they appear, each of one group; None where each row is a trial.
        group_of: shape (n,).
    """
    if trial_of is None:
        trial_of = np.arange(at_s.size)
    _, first, trial = np.unique(trial_of, return_index=True, return_inverse=True)
    began, ended = np.full(first.size, np.inf), np.full(first.size, -np.inf)
    np.minimum.at(began, trial, at_s)
    np.maximum.at(ended, trial, at_s)
    above: dict[int, float] = {}
    for number in range(first.size):
        group = int(group_of[first[number]])
        if ended[number] < above.get(group, -math.inf):
            return int(first[number])
        above[group] = float(began[number])
    return None
