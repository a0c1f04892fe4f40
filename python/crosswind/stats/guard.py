"""The guard: test whether trials are independent, or whether earlier trials affect later ones.

An interval over trials is valid if they are independent and have one distribution. The guard checks this in
the following order and reports the first violation:

1. physical: token buckets that outlive trials had different levels at their starts (`BucketHistory`);
2. the level changed once (permutation CUSUM), or drifts (KPSS);
3. neighbours are correlated, or alternate (Ljung-Box, Bartels);
4. the interval grew although trials were added, which is only a warning.

The tests use normal scores, so a failed trial (+inf) is simply the slowest. All tests together have one p
(`order_evidence`). Series that are reported together are judged together. At 5 % for each of ten conditions,
four of ten valid reports would have a refusal; Hochberg's rule limits that to one of twenty. It needs series
that are independent or positively dependent, which trials at different times are. Holm's rule would need
0.5 % for the first of ten even if all of them leak.

Two tests are not used. Dickey-Fuller ("must reject a random walk") fails for every second independent series
of 10 or 20 trials. Mann-Kendall found no drift that KPSS without lags had missed.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from crosswind.curves.bucket_history import BucketHistory
from crosswind.stats.between import Between, GroupsNeedTrials, RatioInterval
from crosswind.stats.correction import hochberg
from crosswind.stats.cusum import cusum_curves
from crosswind.stats.interval import Interval, NeedsTrials, quantile_interval
from crosswind.stats.normal_scores import normal_scores
from crosswind.stats.order_evidence import OrderEvidence, order_evidence
from crosswind.stats.ratio import ratio_interval
from crosswind.stats.series import is_constant
from crosswind.stats.trials import PerTrial, require_per_trial

# With five trials the rarest order has p = 2/120, which is too much for most of the tests.
GUARD_TRIALS_MIN = 6
# Eight thousand orders of 1000 trials take a second.
GUARD_TRIALS_MAX = 1000
ALPHA = 0.05

Name = TypeVar("Name", bound=Hashable)
Leak = Literal["bucket", "shift", "drift", "dependence"]


@dataclass(frozen=True)
class Guard:
    """The result of the guard for a series of trials."""

    verdict: Literal["clear", "refused", "unknown"]
    n: int  # trials
    leak: Leak | None = None  # why it refused
    reason: str = ""  # in words; for "unknown" what is missing
    remedy: str = ""  # what would help
    change: int | None = None  # index of the first trial after the change, where there is one
    levels: tuple[float, ...] = ()  # medians before and after it, in the unit of the values
    p: dict[str, float] = field(
        default_factory=dict
    )  # of each test, corrected for the number of tests and series
    warning: str = ""

    @property
    def refused(self) -> bool:
        """Whether an interval over these trials would be invalid."""
        return self.verdict == "refused"


def guard(values: PerTrial, buckets: Sequence[BucketHistory] = ()) -> Guard:
    """Return whether `values`, which are reported alone, are independent trials.

    Args and Returns: those of `guard_together`.
    """
    return guard_together({"": values}, {"": buckets})[""]


def guard_together(
    series: Mapping[Name, PerTrial],
    buckets: Mapping[Name, Sequence[BucketHistory]] | None = None,
    share: float = 1.0,
) -> dict[Name, Guard]:
    """Return for series that are reported together whether each has independent trials.

    If all are independent, at most 5 of 100 reports have a refusal, for any number of series.

    Args:
        series: one value per trial, any unit, in the order in which the trials ran; +inf or -inf for a failed
            one.
        buckets: histories of token buckets that outlive trials.
        share: of the 5 %, if the report has other series, which get the rest.
    Returns: "unknown" with fewer than 6 trials (more if many series are judged together) or with more than
        1000, unless a bucket is a reason already.
    Raises: NotPerTrial: some values are not one per trial.
    """
    found = {name: _without_order(values, (buckets or {}).get(name, ())) for name, values in series.items()}
    tested = [name for name, seen in found.items() if seen is None]
    level = ALPHA * share
    evidence = [order_evidence(normal_scores(series[name].values), level / len(tested)) for name in tested]
    corrected = hochberg([each.p for each in evidence]) / share if tested else ()
    for name, each, p in zip(tested, evidence, corrected, strict=True):
        found[name] = _judged(series[name], each, float(p), len(tested) / level)
    return {name: seen for name, seen in found.items() if seen is not None}


def _without_order(values: PerTrial, buckets: Sequence[BucketHistory]) -> Guard | None:
    """Return a result that does not depend on the order of the values; None if the order must be tested."""
    n = len(require_per_trial(values))
    for bucket in buckets:
        if fault := bucket.fault():
            return Guard("refused", n, "bucket", fault, _bucket_remedy(bucket))
    if n < GUARD_TRIALS_MIN:
        return _too_few(n, GUARD_TRIALS_MIN)
    if n > GUARD_TRIALS_MAX:
        return Guard(
            "unknown", n, reason=f"too many trials to compare their orders: {n} of {GUARD_TRIALS_MAX}"
        )
    return Guard("clear", n) if is_constant(np.array(values.values)) else None


def _judged(values: PerTrial, evidence: OrderEvidence, p: float, rarity: float) -> Guard:
    """Return the verdict on a series.

    Args:
        p: of its evidence, corrected for the other series.
        rarity: number of orders that makes a single one rare enough.
    """
    n = len(values)
    times = p / evidence.p
    found = {name: min(1.0, times * each) for name, each in evidence.each.items()}
    if p >= ALPHA:
        # The rarest order and its mirror image have the same statistics.
        needed = next(size for size in range(GUARD_TRIALS_MIN, n + 20) if math.factorial(size) > 2 * rarity)
        return _too_few(n, needed) if n < needed else Guard("clear", n, p=found, warning=_widening(values))
    first, p = next((name, each) for name, each in found.items() if each < ALPHA)
    leak, text, remedy = _LEAKS[first]
    if leak != "shift":
        return Guard("refused", n, leak, f"{text} ({first}, p = {p:.2g})", remedy, p=found)
    at = _change(np.array(values.values))
    levels = tuple(float(np.median(part)) for part in (values.values[:at], values.values[at:]))
    reason = f"{text} after trial {at} of {n} ({first}, p = {p:.2g})"
    return Guard("refused", n, leak, reason, remedy, at, levels, found)


def _too_few(n: int, needed: int) -> Guard:
    return Guard("unknown", n, reason=f"not enough trials: {n} of {needed}")


def _change(series: NDArray[np.float64]) -> int:
    """Return the index of the first value after the likeliest change."""
    scores = normal_scores(series)
    return int(np.argmax(cusum_curves((scores - scores.mean())[np.newaxis, :])[0])) + 1


_RESET = (
    "bring the system to the same state before every trial (reset it, use fresh nodes, rest longer), or "
    "reduce each session with one state to one value (block by session)"
)
_LEAKS: dict[str, tuple[Leak, str, str]] = {
    "permutation CUSUM": ("shift", "the level changed", _RESET),
    "KPSS": ("drift", "values drift from trial to trial", _RESET),
    "Ljung-Box": (
        "dependence",
        "consecutive trials are correlated",
        "average trials that belong together into one value (block by session), and randomise the order",
    ),
    "Bartels, alike": (
        "dependence",
        "neighbouring trials are more similar than others",
        "average trials that belong together into one value (block by session), and randomise the order",
    ),
    "Bartels, alternating": (
        "dependence",
        "neighbouring trials differ more than others",
        "average trials that belong together into one value (block by session), and randomise the order",
    ),
}


def _bucket_remedy(bucket: BucketHistory) -> str:
    rest = f"rest of {math.ceil(bucket.rest_needed_s)} s, " if bucket.rest_needed_s > bucket.rest_s else ""
    return f"{rest}reset the bucket before every trial, or use fresh nodes, whose bucket is full"


def _widening(values: PerTrial) -> str:
    """Return a warning if the median's interval is no narrower than that of the first half of the trials."""
    half = len(values) // 2
    whole = quantile_interval(values, 0.5)
    first = quantile_interval(PerTrial(values.trials[:half], values.values[:half]), 0.5)
    if not isinstance(whole, Interval) or not isinstance(first, Interval):
        return ""
    if not whole.high - whole.low > first.high - first.low:
        return ""
    return f"the interval of {len(values)} trials is wider than that of the first {half}"


@dataclass(frozen=True)
class RefusedInterval:
    """An interval that is not given, because the trials are not independent."""

    p: float
    confidence: float
    n: int  # trials
    estimate: float  # the quantile of these trials, which describes only them
    guard: Guard

    def __str__(self) -> str:
        return "refused by the guard"


@dataclass(frozen=True)
class RefusedComparison:
    """An estimate without an interval, because the guard refuses one of the two groups."""

    of: Between
    confidence: float
    estimate: float
    guard: Guard

    def __str__(self) -> str:
        return "refused by the guard"


def guarded_ratio(
    base: PerTrial, group: PerTrial, seen: Sequence[Guard], confidence: float = 0.95
) -> RatioInterval | GroupsNeedTrials | RefusedComparison:
    """Return the result of `ratio_interval`, or a refusal if the guard refuses one of the groups.

    Args:
        seen: results of the guard for the two groups.
    """
    found = ratio_interval(base, group, confidence)
    refused = next((side for side in seen if side.refused), None)
    if refused is None or not isinstance(found, RatioInterval):
        return found
    return RefusedComparison("ratio", confidence, found.estimate, refused)


def guarded_interval(
    values: PerTrial, p: float, seen: Guard | None, confidence: float = 0.95
) -> Interval | NeedsTrials | RefusedInterval:
    """Return the result of `quantile_interval`, or a refusal if the guard refuses the trials.

    Args:
        values: one per trial, as for `quantile_interval`.
        seen: the result of the guard; None if the values have no order.
    """
    found = quantile_interval(values, p, confidence)
    if seen is None or not seen.refused or isinstance(found, NeedsTrials):
        return found
    return RefusedInterval(p, confidence, found.n, found.estimate, seen)
