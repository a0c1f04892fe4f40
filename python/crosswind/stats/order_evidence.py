"""Evidence in the order of trials that they depend on each other: five tests with one p.

If trials are independent, all orders of their values have the same probability. So each statistic is compared
with its values over other orders. The same is done with the smallest of the five p values, each divided by
its weight, so the number of tests and their correlation are taken into account. Holm's rule ignores the
correlation and loses a fifth of the error: it refuses 20 independent trials in 4.3 instead of 5 of 100
series.

The weights are for typical leaks. The CUSUM has two fifths of the error, because drained budgets and
throttled machines change the level. Drifts have a fifth, correlated neighbours a quarter (and Ljung-Box a
tenth), and alternation, which is rare, a twentieth.

Source: Westfall and Young, Resampling-Based Multiple Testing, 1993, section 2.3: the distribution of the
smallest p.
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
# To find a p of `level`, this number of orders must be at least as rare. The orders are drawn once, so their
# error is the same in every report: with 400 it is 5 % of the level; with 50, a level of 0.5 % became 0.59 %.
ORDERS_AT_LEVEL = 400
ORDERS_MAX = 200_000
# Above this p no number of series gives a refusal, so more orders are not needed.
HOPELESS = 0.1
# Up to 7 values all orders (5040) are used; beyond that a sample that includes the observed order, with steps
# of 0.0005 in p. The seed is fixed, so the same values always have the same result.
ALL_ORDERS_MAX = 7
SAMPLED_ORDERS = 2000
SEED = 1
# Numbers in one array (16 MB), and in all (about 1.3 s of work).
_CHUNK, _ALL = 2_000_000, 8_000_000
# Equal statistics can differ by rounding, because they are added up in another order.
_DIGITS = 9


@dataclass(frozen=True)
class OrderEvidence:
    """The share of orders of independent values with statistics at least as extreme, in [0, 1]."""

    p: float  # of all tests together
    each: dict[str, float]  # of each test, corrected for the others


def order_evidence(scores: NDArray[np.float64], level: float) -> OrderEvidence:
    """Return the evidence in the order of a series.

    Args:
        scores: shape (n,), n >= 4, in the order of the trials; not all the same.
        level: the smallest p that must be resolved; p is valid for any level.
    """
    n = scores.size
    orders = min(math.ceil(ORDERS_AT_LEVEL / level), ORDERS_MAX, max(SAMPLED_ORDERS, _ALL // n))
    found = _compared(scores, SAMPLED_ORDERS)
    if n <= ALL_ORDERS_MAX or orders <= SAMPLED_ORDERS or found.p >= HOPELESS:
        return found
    return _compared(scores, orders)


@dataclass(frozen=True)
class _Orders:
    """Statistics of the orders of one set of values, each ascending."""

    statistics: NDArray[np.float64]  # shape (tests, orders)
    least: NDArray[np.float64]  # shape (orders,): the smallest p / weight of each order
    sampled: int  # 1 for a sample of orders, to which the series itself is added; else 0


def _compared(scores: NDArray[np.float64], orders: int) -> OrderEvidence:
    known = _orders_of(np.sort(scores).tobytes(), orders)
    observed = _statistics(scores[np.newaxis, :])
    weighted = _p_values(known.statistics, observed, beside=known.sampled)[:, 0] / _weights()
    rarer = np.searchsorted(known.least, weighted, "right") + known.sampled
    each = np.minimum(1.0, rarer / (known.least.size + known.sampled))
    return OrderEvidence(float(each.min()), dict(zip(WEIGHTS, each.tolist(), strict=True)))


# Without ties all series of n values have the same scores, so most series of a report share an entry.
@lru_cache(maxsize=8)
def _orders_of(ascending: bytes, orders: int) -> _Orders:
    scores = np.frombuffer(ascending)
    unsorted = np.concatenate([_statistics(rows) for rows in _reordered(scores, orders)], axis=1)
    statistics = np.sort(unsorted, axis=1)
    least = (_p_values(statistics, unsorted, beside=0) / _weights()[:, np.newaxis]).min(axis=0)
    return _Orders(statistics, np.sort(least), int(scores.size > ALL_ORDERS_MAX))


def _reordered(scores: NDArray[np.float64], orders: int) -> Iterator[NDArray[np.float64]]:
    """Yield orders of `scores` as rows: all of them if they are few."""
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
        beside: 1 if the series is not one of the orders and counts as one more.
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
