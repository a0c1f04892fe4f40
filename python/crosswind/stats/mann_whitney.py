"""Mann-Whitney: test whether values of one group tend to be larger than those of another, and how strongly.

U counts the pairs in which the value of the first group is larger; a tie counts half. If both groups have the
same distribution without ties, the distribution of U is known exactly; `hodges_lehmann` and `ratio` use it
for their intervals. Two effect sizes come with it. Cliff's delta is the share of pairs in which the first is
larger, minus the share in which it is smaller. A12 = (delta + 1) / 2 is the probability that the first is
larger. An infinite value (a trial that never ended) has a rank and is counted.

scipy has the test, but not the distribution of U that intervals need, so it is calculated here.

Source: Mann and Whitney 1947; Cliff 1993; Vargha and Delaney 2000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from crosswind.stats.trials import PerTrial, require_per_trial
from crosswind.stats.values import Refused

# Up to this number of pairs the distribution is exact, which takes a third of a second. Beyond, ranks from
# the normal distribution are off by less than one in a thousand.
_EXACT_PAIRS = 10_000
# With ties, U has a distribution for every pattern. Up to this number of arrangements all are counted.
_EXACT_ARRANGEMENTS = 20_000


@dataclass(frozen=True)
class MannWhitney:
    """The test of `first` against `second`, two-sided."""

    u: float  # pairs in which the first is larger, of len(first) * len(second); ties count half
    p: float
    exact: bool  # p is exact; else it is from the normal distribution, corrected for ties
    cliffs_delta: float  # in [-1, 1]; above 0 the first group tends to be larger
    a12: float  # in [0, 1]; the probability that a value of the first is larger; ties count half


def mann_whitney(first: PerTrial, second: PerTrial) -> MannWhitney:
    """Test whether one group tends to be larger than the other.

    Args:
        first: one value per trial, any unit; +inf for a trial that never ended.
        second: the same of the other group, same unit.
    Raises:
        NotPerTrial: one of the two is not one value per trial.
        Refused: a group is empty.
    """
    a, b = (np.array(require_per_trial(side).values) for side in (first, second))
    if not (a.size and b.size):
        raise Refused(f"groups of {a.size} and {b.size} trials: a comparison needs at least one in each")
    u = float(_pairs_won(a, b))
    p, exact = _p_value(a, b)
    delta = 2 * u / (a.size * b.size) - 1
    return MannWhitney(u, p, exact, delta, (delta + 1) / 2)


def rank_of_bounds(m: int, n: int, tail: float) -> tuple[int, float, bool]:
    """Return the largest r with P(U <= r - 1) <= tail, that probability, and whether it is exact.

    The r-th smallest and the r-th largest of all m n differences bound the shift between the groups. Each
    side misses it with that probability; r = 0 where there are too few trials.
    """
    if m * n > _EXACT_PAIRS:
        law = NormalDist(m * n / 2, math.sqrt(m * n * (m + n + 1) / 12))
        rank = max(0, math.floor(law.inv_cdf(tail) + 0.5))
        return rank, law.cdf(rank - 0.5), False
    arrangements = math.comb(m + n, m)
    cumulated, rank, reached = 0, 0, 0.0
    for u, count in enumerate(_arrangements_by_u(m, n)):
        cumulated += count
        if cumulated / arrangements > tail:
            break
        rank, reached = u + 1, cumulated / arrangements
    return rank, reached, True


def trials_a_side(confidence: float) -> int:
    """Return the fewest trials in each of two equal groups for which `rank_of_bounds` has bounds."""
    n = 1
    while 1 / math.comb(2 * n, n) > (1 - confidence) / 2:
        n += 1
    return n


@cache
def _arrangements_by_u(m: int, n: int) -> tuple[int, ...]:
    """Return the number of orders of m and n values with u inverted pairs, for u = 0..mn.

    These are the coefficients of the Gaussian binomial, the product over i = 1..n of (1 - x^(m+i)) /
    (1 - x^i). They are whole numbers, because floating point would lose the small counts of an interval.
    """
    counts = [1] + [0] * (m * n)
    for i in range(1, n + 1):
        for u in range(m * n, m + i - 1, -1):  # times 1 - x^(m+i)
            counts[u] -= counts[u - m - i]
        for u in range(i, m * n + 1):  # divided by 1 - x^i
            counts[u] += counts[u - i]
    return tuple(counts)


def _pairs_won(a: np.ndarray, b: np.ndarray) -> float:
    ordered = np.sort(b)
    below, upto = np.searchsorted(ordered, a, "left"), np.searchsorted(ordered, a, "right")
    return float(below.sum() + upto.sum()) / 2


def _p_value(a: np.ndarray, b: np.ndarray) -> tuple[float, bool]:
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    tied = np.unique(np.concatenate((a, b))).size < a.size + b.size
    if np.unique(np.concatenate((a, b))).size == 1:
        return 1.0, True  # All values are equal, so every arrangement has this U.
    if not tied and a.size * b.size <= _EXACT_PAIRS:
        return float(stats.mannwhitneyu(a, b, method="exact").pvalue), True
    # Ranks instead of values, because infinite values have no difference.
    ranks = stats.rankdata(np.concatenate((a, b)))
    if 1 in (a.size, b.size):
        # scipy does not permute a single trial; its arrangements are its possible ranks.
        own = ranks[0] if a.size == 1 else ranks[-1]
        return min(1.0, 2 * float(min(np.mean(ranks <= own), np.mean(ranks >= own)))), True
    if math.comb(a.size + b.size, a.size) <= _EXACT_ARRANGEMENTS:
        every = stats.PermutationMethod(n_resamples=_EXACT_ARRANGEMENTS)
        return float(stats.mannwhitneyu(ranks[: a.size], ranks[a.size :], method=every).pvalue), True
    asymptotic = stats.mannwhitneyu(ranks[: a.size], ranks[a.size :], method="asymptotic")
    return float(asymptotic.pvalue), False
