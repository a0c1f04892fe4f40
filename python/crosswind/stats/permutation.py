"""How extreme a statistic of an order is among the orders that chance would have given.

Where trials do not influence each other every order of their values is as likely as any other. That makes a
test exact at any n and for any law of the values, which the asymptotic laws of the same statistics are not at
n = 10.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

# All orders of 7 values are 5040; beyond that a sample of them, the observed order included, with steps of
# 0.0005 in p. The seed is fixed: the same values always get the same answer.
ALL_ORDERS_MAX = 7
SAMPLED_ORDERS = 2000
SEED = 1

# One statistic for each row of an array of shape (orders, n).
Statistic = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def permutation_p(statistic: Statistic, series: NDArray[np.float64]) -> float:
    """Return how often an order of `series` has a statistic at least as large as its own order has."""
    observed = float(statistic(series[np.newaxis, :])[0])
    # Equal statistics differ by rounding when they were added up in another order.
    reached = observed - 1e-9 * max(1.0, abs(observed))
    return float(np.mean(statistic(series[_orders(series.size)]) >= reached))


def law_of(n: int) -> str:
    """Return whether `permutation_p` counts all orders of n values or a sample."""
    return "exact" if n <= ALL_ORDERS_MAX else "permutation"


def all_orders(n: int) -> NDArray[np.intp]:
    """Return all orders of 0..n-1, shape (n!, n); the first is ascending."""
    return np.array(list(permutations(range(n))), dtype=np.intp).reshape(math.factorial(n), n)


@lru_cache(maxsize=8)
def _orders(n: int) -> NDArray[np.intp]:
    """Return orders of 0..n-1, shape (orders, n); the first is the order itself."""
    if n <= ALL_ORDERS_MAX:
        return all_orders(n)
    drawn = np.tile(np.arange(n), (SAMPLED_ORDERS, 1))
    np.random.default_rng(SEED).permuted(drawn[1:], axis=1, out=drawn[1:])
    return drawn
