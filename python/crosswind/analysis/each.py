"""What a trial of several rows is reduced to: a quantile of its own, or a figure of all that it shared out.

Sums and Jain's index depend on how many rows a trial has, so they are asked of trials that have equally many.

Source: the standard deviation is the population's, because the rows of a trial are all there are (nuttcp's
connections in Table 1 (b) of OSMeF, RR-13-287).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.stats import jain_index, quantile

Reduce = Callable[[NDArray[np.float64]], float]


@dataclass(frozen=True)
class Each:
    """One value of each trial."""

    name: str  # P99, median, sum, jain, ...
    of: Reduce
    shared: bool = False  # of all rows of a trial: equally many in each, none negative or infinite


def quantile_name(p: float) -> str:
    """Return P99.9 for 0.999, and median for 0.5."""
    return "median" if p == 0.5 else f"P{100 * p:.10g}"


def own_quantile(p: float) -> Each:
    """Return the reduction to a quantile, `p` in (0, 1)."""
    return Each(quantile_name(p), lambda values: quantile(values, p))


OF_SHARES = {
    each.name: each
    for each in (
        Each("sum", lambda values: float(values.sum()), shared=True),
        Each("mean", lambda values: float(values.mean()), shared=True),
        Each("sd", lambda values: float(values.std()), shared=True),
        Each("jain", jain_index, shared=True),
    )
}
