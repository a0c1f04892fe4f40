"""PELT: where the level of a long series changed, any number of times."""

from math import log

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.normal_scores import normal_scores
from crosswind.stats.series import is_constant, series_of

# In multiples of ln n. Changes are then found in at most 1 % of independent series.
PENALTY = 3.0


def pelt(values: ArrayLike, *, shortest: int = 2) -> list[int]:
    """Return the indices at which a new level begins, ascending: the optimum, not a greedy guess.

    Squared error on normal scores, plus 3 ln n for each change. Every place is tried: on a grid of five
    places, the default of a common library, a signal with changes at 6 and 12 of 16 has one at 5.

    Args:
        values: shape (n,), n >= 2 shortest, any unit, in the order of the trials; +inf is allowed.
        shortest: values that a level has at least, 1 or more.
    Source: Killick, Fearnhead and Eckley 2012, section 3.
    """
    series = series_of(values, 2 * shortest)
    if is_constant(series):
        return []
    scores = normal_scores(series)
    n, penalty = series.size, PENALTY * log(series.size)
    sums = np.concatenate(([0.0], scores.cumsum()))
    squares = np.concatenate(([0.0], (scores**2).cumsum()))
    best = np.full(n + 1, np.inf)  # cost of the optimum up to each place
    best[0] = -penalty
    last = np.zeros(n + 1, dtype=int)  # where its last level begins
    open_starts = np.array([0])
    for end in range(shortest, n + 1):
        lengths = end - open_starts
        within = squares[end] - squares[open_starts] - (sums[end] - sums[open_starts]) ** 2 / lengths
        costs = best[open_starts] + within
        last[end] = open_starts[np.argmin(costs)]
        best[end] = costs.min() + penalty
        # A start that is worse already than a change here never becomes the best one again.
        kept = open_starts[costs <= best[end]]
        open_starts = np.append(kept, end - shortest + 1) if end + 1 >= 2 * shortest else kept
    changes, place = [], int(last[n])
    while place > 0:
        changes.append(place)
        place = int(last[place])
    return changes[::-1]
