"""Which order statistics bound a quantile: ranks from the binomial law, under four named conventions.

The number of n independent values that lie below the p-quantile is Bin(n, p). So the j-th and the k-th
smallest hold the quantile between them with probability at least F(k-1) - F(j-1), whatever the law of the
values; ties only add coverage. Conventions differ in how they choose j and k:

* `equal-tailed` (the default): each side misses with probability at most (1 - confidence) / 2.
* `shortest`: the fewest ranks between j and k that cover enough; of equals the one that covers most, then the
  lower one. It may put all of its error on one side, so it exists for fewer values.
* `normal`: the normal approximation that CONFIRM prints, floor(np - z s) and ceil(1 + np + z s) with
  s = sqrt(np (1-p)). Kept for comparison with published figures; it covers more than asked (n = 10: .998).
* `upper`: one-sided; only a bound above, which the quantile exceeds with probability at most 1 - confidence.

Fewest values at 95 % for the median, P90, P95, P99, P99.9: equal-tailed 6, 36, 72, 368, 3688; shortest 6, 29,
59, 299, 2995; upper 5, 29, 59, 299, 2995.

Source: Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010, ch. 2; `normal` as in
Maricq et al., Taming Performance Variability, OSDI 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

import numpy as np

from crosswind.stats.values import Refused


class Convention(StrEnum):
    """How the ranks of an interval are chosen."""

    EQUAL_TAILED = "equal-tailed"
    SHORTEST = "shortest"
    NORMAL = "normal"
    UPPER = "upper"


@dataclass(frozen=True)
class Ranks:
    """The low-th and the high-th smallest of n values bound the quantile; None where no value does."""

    low: int | None  # in [1, n]
    high: int | None
    below: float  # probability that the quantile lies below the lower bound; 0 without one
    above: float

    @property
    def coverage(self) -> float:
        """Probability, at least, that the quantile lies between the bounds that exist."""
        return 1 - self.below - self.above


def quantile_ranks(
    n: int, p: float, confidence: float = 0.95, convention: Convention = Convention.EQUAL_TAILED
) -> Ranks:
    """Return the ranks that bound the `p`-quantile of n independent values.

    Args:
        n: number of values, at least 0.
        p: in (0, 1).
        confidence: in (0, 1).
    Raises: Refused: p or confidence is outside.
    """
    _check(p, confidence)
    match convention:
        case Convention.EQUAL_TAILED:
            low, high = _lowest(n, p, (1 - confidence) / 2), _highest(n, p, (1 - confidence) / 2)
        case Convention.UPPER:
            low, high = None, _highest(n, p, 1 - confidence)
        case Convention.SHORTEST:
            low, high = _shortest(n, p, confidence)
        case Convention.NORMAL:
            low, high = _normal(n, p, confidence)
    return Ranks(
        low,
        high,
        0.0 if low is None else _cdf(low - 1, n, p),
        0.0 if high is None else _cdf(n - high, n, 1 - p),
    )


def trials_needed(
    p: float, confidence: float = 0.95, convention: Convention = Convention.EQUAL_TAILED
) -> int:
    """Return the fewest independent values, one per trial, that bound the `p`-quantile."""
    _check(p, confidence)
    farther = max(p, 1 - p)
    match convention:
        case Convention.EQUAL_TAILED:
            return _power_below(farther, (1 - confidence) / 2)
        case Convention.UPPER:
            return _power_below(p, 1 - confidence)
        case Convention.SHORTEST:
            # [smallest, largest] misses with p^n + (1-p)^n, so one that misses by the greater power alone is
            # a start from below.
            start = _power_below(farther, 1 - confidence)
            return next(n for n in count(start) if p**n + (1 - p) ** n <= (1 - confidence) * (1 + 1e-12))
        case Convention.NORMAL:
            return next(n for n in count(1) if None not in _normal(n, p, confidence))


def _check(p: float, confidence: float) -> None:
    if not 0 < p < 1:
        raise Refused(f"p: {p} is not in (0, 1); the minimum and maximum of a law have no such interval")
    if not 0 < confidence < 1:
        raise Refused(f"confidence: {confidence} is not in (0, 1); write 95 % as 0.95")


def _cdf(k: float, n: int, p: float) -> float:
    """Return P(Bin(n, p) <= k)."""
    from scipy.special import bdtr  # Slow to import, and not needed by a `crosswind --help`.

    return float(bdtr(k, n, p)) if k < n else 1.0


def _lowest(n: int, p: float, tail: float) -> int | None:
    """Return max{j: F(j-1) <= tail}, None if there is no such j in [1, n]."""
    # The cdf grows with j, so halving finds it among ten million values in 24 steps. The tolerance keeps an
    # exact tie (such as 0.5^2 = 0.25) from being lost to the last bit.
    allowed = tail * (1 + 1e-12)
    if n == 0 or _cdf(0, n, p) > allowed:
        return None
    low, beyond = 1, n + 1
    while beyond - low > 1:
        middle = (low + beyond) // 2
        low, beyond = (middle, beyond) if _cdf(middle - 1, n, p) <= allowed else (low, middle)
    return low


def _highest(n: int, p: float, tail: float) -> int | None:
    """Return min{k: 1 - F(k-1) <= tail}: the same seen from above, where 1 - p is the share."""
    mirrored = _lowest(n, 1 - p, tail)
    return None if mirrored is None else n + 1 - mirrored


def _shortest(n: int, p: float, confidence: float) -> tuple[int | None, int | None]:
    """Return the ranks of the smallest span that covers enough, or none."""
    from scipy.special import bdtr

    if n == 0:
        return None, None
    upto = np.concatenate(([0.0], bdtr(np.arange(n), n, p)))  # upto[j] = F(j - 1)
    wanted = confidence - 1e-12
    fewest, most = 0, n  # A span of `most` is enough, if any is; one of `fewest` is not.
    if upto[n] - upto[1] < wanted:
        return None, None
    most = n - 1
    while most - fewest > 1:
        span = (fewest + most) // 2
        enough = np.max(upto[1 + span : n + 1] - upto[1 : n + 1 - span]) >= wanted
        fewest, most = (fewest, span) if enough else (span, most)
    # Symmetric spans cover the same up to rounding: the lower one stands for both.
    cover = np.round(upto[1 + most : n + 1] - upto[1 : n + 1 - most], 12)
    low = int(np.argmax(cover)) + 1
    return low, low + most


def _normal(n: int, p: float, confidence: float) -> tuple[int | None, int | None]:
    from statistics import NormalDist

    reach = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(n * p * (1 - p))
    low, high = math.floor(n * p - reach), math.ceil(1 + n * p + reach)
    return (low if low >= 1 else None), (high if high <= n else None)


def _power_below(base: float, tail: float) -> int:
    """Return the fewest n with base^n <= tail."""
    # The tolerance keeps an exact power (such as 0.5^2 = 0.25) from being rounded up by one ulp of the
    # logarithms.
    return max(1, math.ceil(math.log(tail) / math.log(base) - 1e-9))
