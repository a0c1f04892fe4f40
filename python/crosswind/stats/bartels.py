"""Bartels' rank von Neumann ratio: whether neighbours are as different as any other two values."""

import numpy as np
from numpy.typing import NDArray


def bartels_rows(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared rank differences of neighbours, divided by those from the middle rank, by row.

    The ratio is near 2 for independent values, small where neighbours are similar, large where they
    alternate.

    Args:
        ranks: shape (series, n), n >= 4, of values that are not all the same; ties share the mean of their
            ranks.
    Source: Bartels 1982.
    """
    middle = (ranks.shape[1] + 1) / 2
    ratio: NDArray[np.float64] = (np.diff(ranks) ** 2).sum(axis=1) / ((ranks - middle) ** 2).sum(axis=1)
    return ratio
