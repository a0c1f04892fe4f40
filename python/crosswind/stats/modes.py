"""Whether values gather around two levels instead of one, and which."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.dip import VALUES_MIN, dip_p
from crosswind.stats.quantile import sorted_values

_ALPHA = 0.05  # of the dip test


@dataclass(frozen=True)
class Mode:
    """One of the levels."""

    median: float  # in the unit of the values
    n: int  # values around it


def modes(values: ArrayLike) -> tuple[Mode, ...]:
    """Return two modes where the dip refuses one, otherwise nothing; infinite values are left out.

    The values are divided where the squares within both parts add up to the least. A median between two modes
    is no value that ever occurs, and a series can end inside one of them by chance, so both are to be told.

    Args:
        values: shape (n,), any unit; one per trial.
    Source: Hartigan and Hartigan 1985; Fisher 1958, "On grouping for maximum homogeneity".
    """
    ordered = sorted_values(values)
    ordered = ordered[np.isfinite(ordered)]
    if ordered.size < VALUES_MIN or not dip_p(ordered) < _ALPHA:
        return ()
    n = ordered.size
    sums, first = ordered.cumsum()[:-1], np.arange(1, n)
    # The least squares within are the most between: what the means of the parts explain.
    explained = sums**2 / first + (ordered.sum() - sums) ** 2 / (n - first)
    split = int(np.argmax(explained)) + 1
    return tuple(Mode(float(np.median(part)), part.size) for part in np.split(ordered, [split]))
