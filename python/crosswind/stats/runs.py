"""Lengths of runs, such as of lost packets in a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def run_lengths(marks: ArrayLike) -> NDArray[np.int64]:
    """Return the length of every run of true values, in order.

    Args:
        marks: shape (n,), such as "this packet was lost".
    """
    padded = np.concatenate(([False], np.asarray(marks, dtype=bool), [False]))
    changes = np.flatnonzero(padded[1:] != padded[:-1])
    return changes[1::2] - changes[::2]
