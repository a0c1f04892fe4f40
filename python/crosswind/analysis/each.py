"""Reduce a trial of several rows to one value: a quantile, or a figure of shares.

Sums and Jain's index depend on the number of rows, so they need trials with equal numbers of rows.

Source: the standard deviation is the population's, because the rows of a trial are complete (nuttcp's
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
    """A reduction of a trial to one value."""

    name: str  # P99, median, sum, jain, ...
    of: Reduce
    shared: bool = False  # rows are shares: equally many in each trial, none negative or infinite


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
