"""The five numbers of a box plot, and the values outside its whiskers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.quantile import quantiles, sorted_values


@dataclass(frozen=True)
class BoxPlot:
    """Type-7 quartiles, whiskers at data, and the values beyond them, in the unit of the values."""

    n: int
    q1: float
    median: float
    q3: float
    whisker_low: float
    whisker_high: float
    outliers: NDArray[np.float64]  # sorted


def box_plot(values: ArrayLike) -> BoxPlot:
    """Return the box plot of `values`.

    A whisker ends at the most extreme *measured* value within 1.5 interquartile ranges of the box, not at the
    fence itself, because that latency may never have occurred.

    Args:
        values: shape (n,), n >= 1, any unit, no NaN.
    Raises: Refused: no values or a NaN.
    Source: Tukey 1977, with the type-7 quartiles of numpy and pandas instead of the hinges.
    """
    ordered = sorted_values(values)
    q1, median, q3 = quantiles(ordered, (0.25, 0.5, 0.75))
    reach = 1.5 * (q3 - q1) if q3 > q1 else 0.0
    # An interpolated quartile may lie beyond all values inside its fence; the whisker then ends at the box.
    inside = ordered[(ordered >= q1 - reach) & (ordered <= q3 + reach)]
    whisker_low = float(inside[0]) if inside.size else q1
    whisker_high = float(inside[-1]) if inside.size else q3
    outliers = ordered[(ordered < whisker_low) | (ordered > whisker_high)]
    return BoxPlot(ordered.size, q1, median, q3, min(whisker_low, q1), max(whisker_high, q3), outliers)
