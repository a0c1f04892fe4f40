"""Exact, distribution-free interval for a quantile over trials, from order statistics.

Between the j-th and the k-th smallest of n independent values lies the p-quantile with probability at least
F(k-1) - F(j-1), F the Bin(n, p) distribution function: no assumption on the shape, ties only add coverage.
The interval is *equal-tailed*: each side misses with probability at most (1 - confidence) / 2. It therefore
needs somewhat more trials than an interval that may put all its error on one side: at 95 %, 6 for a median,
36 for P90, 72 for P95, 368 for P99, 3688 for P99.9 (against 6, 29, 59, 299, 2995).

Source: Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010, ch. 2.
"""

import math
from dataclasses import dataclass

from crosswind.stats.quantile import quantile
from crosswind.stats.trials import PerTrial, require_per_trial


@dataclass(frozen=True)
class Interval:
    """The quantile lies in [low, high] with probability at least `coverage`, itself at least `confidence`."""

    p: float
    confidence: float
    n: int  # trials
    estimate: float  # type-7 quantile of the n values, in their unit
    low: float
    high: float
    low_rank: int  # in [1, n]; low is the low_rank-th smallest value
    high_rank: int
    coverage: float


@dataclass(frozen=True)
class NeedsTrials:
    """No two-sided interval exists with so few trials, whatever their values."""

    p: float
    confidence: float
    n: int
    estimate: float | None  # None without any trial
    low: float  # the bound that exists, or -inf
    high: float  # the bound that exists, or +inf
    needed: int  # trials in all

    @property
    def more(self) -> int:
        """Trials to add."""
        return self.needed - self.n

    def __str__(self) -> str:
        return f"needs {self.more} more trial{'s' if self.more > 1 else ''}"


def quantile_interval(values: PerTrial, p: float, confidence: float = 0.95) -> Interval | NeedsTrials:
    """Return the exact equal-tailed interval of the `p`-quantile over trials, or how many trials it needs.

    Args:
        values: one per trial, any unit; a failed trial as +inf (`PerTrial.of` does that).
        p: in (0, 1); 0.5 is the median over trials.
        confidence: in (0, 1).
    Returns: an Interval in the unit of `values`, or NeedsTrials with the missing bounds as -inf and +inf.
    Raises: NotPerTrial: `values` are operations, or anything else that is not one value per trial.
    """
    values = require_per_trial(values)
    needed = trials_needed(p, confidence)
    n = len(values)
    ordered = sorted(values.values)
    estimate = quantile(ordered, p) if ordered else None
    low_rank, high_rank, below, above = _ranks(n, p, (1 - confidence) / 2)
    low = ordered[low_rank - 1] if low_rank is not None else -math.inf
    high = ordered[high_rank - 1] if high_rank is not None else math.inf
    if low_rank is None or high_rank is None or estimate is None:
        return NeedsTrials(p, confidence, n, estimate, low, high, needed)
    return Interval(p, confidence, n, estimate, low, high, low_rank, high_rank, 1 - below - above)


def trials_needed(p: float, confidence: float = 0.95) -> int:
    """Return the fewest trials for which `quantile_interval` gives an interval.

    Both [smallest, largest] tails must be small enough: p^n and (1 - p)^n at most (1 - confidence) / 2.
    """
    if not 0 < p < 1:
        raise ValueError(f"p: {p} is not in (0, 1); the minimum and maximum of a law have no such interval")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: {confidence} is not in (0, 1); write 95 % as 0.95")
    # The tolerance keeps an exact power (such as 0.5^2 = 0.25) from being rounded up by one ulp of the
    # logarithms.
    return max(1, math.ceil(math.log((1 - confidence) / 2) / math.log(max(p, 1 - p)) - 1e-9))


def _ranks(n: int, p: float, tail: float) -> tuple[int | None, int | None, float, float]:
    """Return j = max{j: F(j-1) <= tail}, k = min{k: 1 - F(k-1) <= tail} and the two tails they leave."""
    pmf = _binomial_pmf(n, p)
    low_rank, below, cumulated = None, 0.0, 0.0
    for count in range(n):
        cumulated += pmf[count]
        if cumulated > tail:
            break
        low_rank, below = count + 1, cumulated
    high_rank, above, cumulated = None, 0.0, 0.0
    for count in range(n, 0, -1):
        cumulated += pmf[count]
        if cumulated > tail:
            break
        high_rank, above = count, cumulated
    return low_rank, high_rank, below, above


def _binomial_pmf(n: int, p: float) -> list[float]:
    """Return P(Bin(n, p) = i) for i in 0..n, by logarithms so that no factor overflows."""
    log_p, log_q = math.log(p), math.log1p(-p)
    log_n = math.lgamma(n + 1)
    return [
        math.exp(log_n - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * log_p + (n - i) * log_q)
        for i in range(n + 1)
    ]
