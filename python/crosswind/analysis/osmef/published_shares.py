"""How OSMeF summarised parallel connections, for comparison with figures of each run.

It first averaged every k-th connection over runs, and computed spread and Jain's index from these averages.
The k-th connection is random (results came in the order of completion), so averaging hides differences
between the connections of a run: the spread shrinks with the square root of the number of runs, and Jain's
index approaches 1. Runs [1, 3] and [3, 1] have an index of 0.8 each, but 1 in this way. `crosswind analyze
--each jain` (or `sum`, `mean`, `sd`) gives the figures of each run.

Source: Venzano, Michiardi: OSMeF, EURECOM RR-13-287, Table 1 (b), Figures 3 and 5, and its published scripts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats import jain_index


@dataclass(frozen=True)
class PublishedShares:
    """Figures of connections that were averaged over runs; in the unit of the rates, except the index."""

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
