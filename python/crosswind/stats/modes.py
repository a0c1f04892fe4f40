"""Find out whether values are around one level or two, and which two."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.dip import VALUES_MIN, dip_p
from crosswind.stats.quantile import sorted_values

_ALPHA = 0.05  # of the dip test


@dataclass(frozen=True)
class Mode:
    """One of two levels."""

    median: float  # in the unit of the values
    n: int  # values around it


def modes(values: ArrayLike) -> tuple[Mode, ...]:
    """Return two modes if the dip test rejects one, otherwise none; infinite values are left out.

    The values are divided where the sum of squares within both parts is smallest. A median between two modes
    is a value that never occurs, and a series can end within one mode by chance, so both are reported.

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
    # The smallest sum within the parts is the largest between them.
    explained = sums**2 / first + (ordered.sum() - sums) ** 2 / (n - first)
    split = int(np.argmax(explained)) + 1
    return tuple(Mode(float(np.median(part)), part.size) for part in np.split(ordered, [split]))
