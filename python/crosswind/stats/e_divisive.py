"""E-divisive: where the law of a series changed, in level, spread or shape."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.permutation import permutation_p
from crosswind.stats.series import series_of


@dataclass(frozen=True)
class Division:
    """One change: `at` is the index of the first value after it."""

    at: int
    statistic: float
    p: float


def best_division(values: ArrayLike, shortest: int = 2) -> tuple[int, float]:
    """Return the index that divides `values` best, and the statistic Q there.

    Q = nm / (n + m) (2 E|X - Y| - E|X - X'| - E|Y - Y'|), the expectations over distinct pairs.

    Args:
        values: shape (n,), n >= 2 shortest, finite, any unit.
        shortest: values on each side at least, 2 or more.
    Source: Matteson and James 2014, equations 5 to 7 with exponent 1.
    """
    curve = _curve(series_of(values, 2 * shortest, finite=True)[np.newaxis, :], shortest)[0]
    best = int(np.argmax(curve))
    return best + shortest, float(curve[best])


def e_divisive(values: ArrayLike, *, shortest: int = 2, alpha: float = 0.05) -> list[Division]:
    """Return the changes of law, ascending: pieces are divided until no division is clearer than by chance.

    Args:
        values: shape (n,), finite, any unit, in the order of the trials; up to some thousands.
        shortest: values that a piece has at least, 2 or more.
        alpha: in (0, 1); a division has to be so rare among permutations of its piece.
    Source: Matteson and James 2014, section 3; each piece is judged by itself.
    """
    series = series_of(values, 2, finite=True)
    found, pieces = [], [(0, series.size)]
    while pieces:
        start, end = pieces.pop()
        piece = series[start:end]
        if piece.size < 2 * shortest:
            continue
        at, statistic = best_division(piece, shortest)
        p = permutation_p(lambda rows: _curve(rows, shortest).max(axis=1), piece)
        if p <= alpha and statistic > 0:
            found.append(Division(start + at, statistic, p))
            pieces += [(start, start + at), (start + at, end)]
    return sorted(found, key=lambda division: division.at)


def _curve(rows: NDArray[np.float64], shortest: int) -> NDArray[np.float64]:
    """Return Q of every division of each row, shape (rows, n - 2 shortest + 1).

    Value by value moves from the right side to the left; each move changes the three sums of distances by
    those of one value, so memory stays at a row.
    """
    n = rows.shape[1]
    # Distances of each value to those before it and to all.
    before = np.column_stack([np.abs(rows[:, :k] - rows[:, k : k + 1]).sum(axis=1) for k in range(n)])
    after = np.column_stack([np.abs(rows[:, k + 1 :] - rows[:, k : k + 1]).sum(axis=1) for k in range(n)])
    left = before.cumsum(axis=1)  # Pairs inside the first k + 1 values.
    right = after[:, ::-1].cumsum(axis=1)[:, ::-1]  # Pairs inside the values from k on.
    total = left[:, -1:]
    m = np.arange(shortest, n - shortest + 1)
    inside_left, inside_right = left[:, m - 1], right[:, m]
    across = total - inside_left - inside_right
    curve: NDArray[np.float64] = (m * (n - m) / n) * (
        2 * across / (m * (n - m))
        - 2 * inside_left / (m * (m - 1))
        - 2 * inside_right / ((n - m) * (n - m - 1))
    )
    return curve
