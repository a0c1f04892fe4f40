"""How clearly the order of trials shows that they depend on each other: five tests, and one p between them.

Where trials are independent every order of their values is as likely as any other. So each statistic is
compared with its values over other orders, and so is the smallest of the five p values, each divided by its
weight: how rare that is among orders already counts how many tests were asked and how alike they are. Holm's
rule, which knows nothing of that, loses a fifth of the error: 20 independent trials were refused in 4.3
instead of 5 of 100 series.

Weights are for what leaks of history look like. Two fifths of the error are the CUSUM's: a change of level is
what drained budgets and throttled machines leave. A fifth is for drifts, a quarter for neighbours that are
alike, and little for alternation, which is rarer.

Source: Westfall and Young, Resampling-Based Multiple Testing, 1993, section 2.3: the smallest p and its law.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.bartels import bartels_rows
from crosswind.stats.cusum import cusum_curves
from crosswind.stats.kpss import kpss_rows
from crosswind.stats.ljung_box import ljung_box_rows, usual_lags

# The tests in the order in which they are named, with their shares of the error.
WEIGHTS = {
    "permutation CUSUM": 0.40,
    "KPSS": 0.20,
    "Ljung-Box": 0.10,
    "Bartels, alike": 0.25,
    "Bartels, alternating": 0.05,
}
# A p that has to be as small as `level` is counted among orders of which so many are as rare. The orders are
# drawn once, so their error stays: of 400 it is 5 % of the level, of 50 it made 0.59 % of 0.5 %.
ORDERS_AT_LEVEL = 400
ORDERS_MAX = 200_000
# Above this p no family of tests can refuse, so no more orders are looked at.
HOPELESS = 0.1
# All orders of 7 values are 5040; beyond that a sample of them, the observed order included, with steps of
# 0.0005 in p. The seed is fixed: the same values always get the same answer.
ALL_ORDERS_MAX = 7
SAMPLED_ORDERS = 2000
SEED = 1
# Numbers that are looked at together: 16 MB of them. And in all: some 1.3 s of work.
_CHUNK, _ALL = 2_000_000, 8_000_000
# Equal statistics differ by rounding when they were added up in another order.
_DIGITS = 9


@dataclass(frozen=True)
class OrderEvidence:
    """How rarely an order of independent values shows anything as clearly, in [0, 1]."""

    p: float  # by whichever test
    each: dict[str, float]  # by one of the tests, all of them having been asked


def order_evidence(scores: NDArray[np.float64], level: float) -> OrderEvidence:
    """Return what the order of a series shows.

    Args:
        scores: shape (n,), n >= 4, in the order of the trials; not all the same.
        level: the smallest p that has to be told from smaller ones. p is true whatever it is.
    """
    n = scores.size
    orders = min(math.ceil(ORDERS_AT_LEVEL / level), ORDERS_MAX, max(SAMPLED_ORDERS, _ALL // n))
    found = _compared(scores, SAMPLED_ORDERS)
    if n <= ALL_ORDERS_MAX or orders <= SAMPLED_ORDERS or found.p >= HOPELESS:
        return found
    return _compared(scores, orders)


@dataclass(frozen=True)
class _Orders:
    """What orders of one set of values give, each ascending."""

    statistics: NDArray[np.float64]  # shape (tests, orders)
    least: NDArray[np.float64]  # shape (orders,): of each order the smallest p over weight
    sampled: int  # 1 where these are a sample, beside which the series itself is one more order; else 0


def _compared(scores: NDArray[np.float64], orders: int) -> OrderEvidence:
    known = _orders_of(np.sort(scores).tobytes(), orders)
    observed = _statistics(scores[np.newaxis, :])
    weighted = _p_values(known.statistics, observed, beside=known.sampled)[:, 0] / _weights()
    rarer = np.searchsorted(known.least, weighted, "right") + known.sampled
    each = np.minimum(1.0, rarer / (known.least.size + known.sampled))
    return OrderEvidence(float(each.min()), dict(zip(WEIGHTS, each.tolist(), strict=True)))


# Without ties the scores of n values are the same whatever the values, so most series of a report share one.
@lru_cache(maxsize=8)
def _orders_of(ascending: bytes, orders: int) -> _Orders:
    scores = np.frombuffer(ascending)
    unsorted = np.concatenate([_statistics(rows) for rows in _reordered(scores, orders)], axis=1)
    statistics = np.sort(unsorted, axis=1)
    least = (_p_values(statistics, unsorted, beside=0) / _weights()[:, np.newaxis]).min(axis=0)
    return _Orders(statistics, np.sort(least), int(scores.size > ALL_ORDERS_MAX))


def _reordered(scores: NDArray[np.float64], orders: int) -> Iterator[NDArray[np.float64]]:
    """Yield orders of `scores` as rows: all of them where they are few."""
    if scores.size <= ALL_ORDERS_MAX:
        yield np.array(list(permutations(scores)))
        return
    generator = np.random.default_rng(SEED)
    at_once = max(1, _CHUNK // scores.size)
    for done in range(0, orders, at_once):
        yield generator.permuted(np.tile(scores, (min(at_once, orders - done), 1)), axis=1)


def _p_values(
    ascending: NDArray[np.float64], statistics: NDArray[np.float64], *, beside: int
) -> NDArray[np.float64]:
    """Return the share of orders whose statistic is at least as large.

    Args:
        ascending: shape (tests, orders).
        statistics: shape (tests, series).
        beside: 1 where the series is not one of the orders, and counts as one more.
    """
    size = ascending.shape[1]
    below = np.array([np.searchsorted(*pair) for pair in zip(ascending, statistics, strict=True)])
    shares: NDArray[np.float64] = np.minimum(1.0, (size - below + beside) / size)
    return shares


def _weights() -> NDArray[np.float64]:
    return np.array(list(WEIGHTS.values()))


def _statistics(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the statistics of each row, in the order of `WEIGHTS`: shape (tests, rows)."""
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    centred = rows - rows.mean(axis=1, keepdims=True)
    ratio = bartels_rows(stats.rankdata(rows, axis=1))
    return np.round(
        [
            cusum_curves(centred).max(axis=1),
            kpss_rows(centred),
            ljung_box_rows(centred, usual_lags(rows.shape[1])),
            -ratio,
            ratio,
        ],
        _DIGITS,
    )
