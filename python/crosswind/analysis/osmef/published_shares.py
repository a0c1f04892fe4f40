"""How OSMeF summarised connections that share a network, to stand beside figures of each run.

Every k-th connection is averaged over runs first, and spread and Jain's index are of these averages. Which
is the k-th is chance (results came in the order of completion), so averaging evens out what connections of a
run were given: spread shrinks with the square root of the number of runs, and Jain's index grows towards 1.
Runs [1, 3] and [3, 1] have an index of 0.8 each, and 1 in this way. What each run gave is `crosswind analyze
--each jain` (or `sum`, `mean`, `sd`).

Source: Venzano, Michiardi: OSMeF, EURECOM RR-13-287, Table 1 (b), Figures 3 and 5, and its published scripts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats import jain_index


@dataclass(frozen=True)
class PublishedShares:
    """Of connections that were averaged over runs; in the unit of the rates, but for the index."""

    total: float
    mean: float
    sd: float  # of the population
    jain: float


def published_shares(runs: ArrayLike) -> PublishedShares:
    """Return the figures as OSMeF computed them.

    Args:
        runs: shape (runs, connections), not negative, any unit; each row in the order of its results.
    """
    averaged = np.asarray(runs, dtype=np.float64).mean(axis=0)
    return PublishedShares(
        float(averaged.sum()), float(averaged.mean()), float(averaged.std()), jain_index(averaged)
    )
