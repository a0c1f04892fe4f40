"""The guard: whether trials are independent of each other, or history leaks from one to the next.

An interval over trials holds if they are independent and of one law. The guard looks for what breaks that, in
this order, and names the first thing that it finds:

1. physical: buckets that outlive trials held the same at every start (`BucketHistory`, where known);
2. the level changed once (permutation CUSUM), or drifts (KPSS);
3. neighbours are alike, or alternate (Ljung-Box, Bartels);
4. the interval grew although trials were added: only a warning.

The tests look at normal scores, so a trial that failed (+inf) is the slowest and nothing else; between them
they have one p (`order_evidence`). Series that are reported together are judged together: of ten conditions
each refused at 5 %, one is refused in four of ten clean reports. Hochberg's rule keeps that at one report in
twenty. It needs series that are independent or alike, as trials are that ran at different moments, and where
all conditions leak it asks 5 % of each; Holm's would ask 0.5 % of the first of ten. Dickey-Fuller is not
asked: "must reject a random walk" fails for every second independent series of 10 or 20 trials. Nor is
Mann-Kendall, which found no drift that KPSS without lags had missed.
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

# With five trials the rarest order has p = 2/120, which most of the tests can never count.
GUARD_TRIALS_MIN = 6
# Eight thousand orders of so many trials take a second.
GUARD_TRIALS_MAX = 1000
ALPHA = 0.05

Name = TypeVar("Name", bound=Hashable)
Leak = Literal["bucket", "shift", "drift", "dependence"]


@dataclass(frozen=True)
class Guard:
    """What the guard found in a series of trials."""

    verdict: Literal["clear", "refused", "unknown"]
    n: int  # trials
    leak: Leak | None = None  # why it refused
    reason: str = ""  # the same in words; for "unknown" what is missing
    remedy: str = ""  # what would help
    change: int | None = None  # index of the first trial after the change, where there is one
    levels: tuple[float, ...] = ()  # medians before and after it, in the unit of the values
    p: dict[str, float] = field(default_factory=dict)  # of each test, corrected for all that was asked
    warning: str = ""

    @property
    def refused(self) -> bool:
        """Whether an interval over these trials would not hold."""
        return self.verdict == "refused"


def guard(values: PerTrial, buckets: Sequence[BucketHistory] = ()) -> Guard:
    """Return whether `values`, which are reported alone, may be taken for independent trials.

    Args and Returns: as of `guard_together`.
    """
    return guard_together({"": values}, {"": buckets})[""]


def guard_together(
    series: Mapping[Name, PerTrial],
    buckets: Mapping[Name, Sequence[BucketHistory]] | None = None,
    share: float = 1.0,
) -> dict[Name, Guard]:
    """Return of series that are reported together whether each may be taken for independent trials.

    However many they are, and where none depends on its past, one of them is refused in at most 5 of 100
    reports.

    Args:
        series: one value per trial, any unit, in the order in which the trials ran; +inf or -inf for a failed
            one.
        buckets: what is known of those that outlive trials.
        share: of the 5 %, where the report has other series besides, whose shares are the rest.
    Returns: "unknown" with fewer than 6 trials, or more where many series are judged together, or more than
        1000, unless a bucket speaks already.
    Raises: NotPerTrial: some values are not one per trial.
    """
    found = {name: _unasked(values, (buckets or {}).get(name, ())) for name, values in series.items()}
    asked = [name for name, seen in found.items() if seen is None]
    level = ALPHA * share
    evidence = [order_evidence(normal_scores(series[name].values), level / len(asked)) for name in asked]
    corrected = hochberg([each.p for each in evidence]) / share if asked else ()
    for name, each, p in zip(asked, evidence, corrected, strict=True):
        found[name] = _judged(series[name], each, float(p), len(asked) / level)
    return {name: seen for name, seen in found.items() if seen is not None}


def _unasked(values: PerTrial, buckets: Sequence[BucketHistory]) -> Guard | None:
    """Return what is seen without a look at the order of the values; None where that has to be looked at."""
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
        p: of its evidence, corrected for what was asked besides.
        rarity: how many orders there have to be for one of them to be rare enough.
    """
    n = len(values)
    times = p / evidence.p
    found = {name: min(1.0, times * each) for name, each in evidence.each.items()}
    if p >= ALPHA:
        # The rarest order and its mirror image cannot be told from each other.
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
    return Guard("unknown", n, reason=f"not enough trials to tell: {n} of {needed}")


def _change(series: NDArray[np.float64]) -> int:
    """Return the index of the first value after the likeliest change."""
    scores = normal_scores(series)
    return int(np.argmax(cusum_curves((scores - scores.mean())[np.newaxis, :])[0])) + 1


_RESET = (
    "bring the system to the same state before every trial (reset it, take fresh nodes, rest longer), or "
    "make one value of each session in which its state was the same (block by session)"
)
_LEAKS: dict[str, tuple[Leak, str, str]] = {
    "permutation CUSUM": ("shift", "the level changed", _RESET),
    "KPSS": ("drift", "values drift with the number of the trial", _RESET),
    "Ljung-Box": (
        "dependence",
        "consecutive trials are correlated",
        "average what belongs together into one value (block by session), and randomise the order",
    ),
    "Bartels, alike": (
        "dependence",
        "neighbouring trials are more alike than any two",
        "average what belongs together into one value (block by session), and randomise the order",
    ),
    "Bartels, alternating": (
        "dependence",
        "neighbouring trials are more different than any two",
        "average what belongs together into one value (block by session), and randomise the order",
    ),
}


def _bucket_remedy(bucket: BucketHistory) -> str:
    rest = f"rest of {math.ceil(bucket.rest_needed_s)} s, " if bucket.rest_needed_s > bucket.rest_s else ""
    return f"{rest}reset the bucket before every trial, or take fresh nodes, whose bucket is full"


def _widening(values: PerTrial) -> str:
    """Return a warning if the median's interval is no narrower than that of the first half of the trials."""
    half = len(values) // 2
    whole = quantile_interval(values, 0.5)
    first = quantile_interval(PerTrial(values.trials[:half], values.values[:half]), 0.5)
    if not isinstance(whole, Interval) or not isinstance(first, Interval):
        return ""
    if not whole.high - whole.low > first.high - first.low:
        return ""
    return f"the interval of {len(values)} trials is wider than that of the first {half} was"


@dataclass(frozen=True)
class RefusedInterval:
    """An interval exists by its formula and is not given, because the trials are not independent."""

    p: float
    confidence: float
    n: int  # trials
    estimate: float  # the quantile of these trials, which describes them and nothing else
    guard: Guard

    def __str__(self) -> str:
        return "refused by the guard"


@dataclass(frozen=True)
class RefusedComparison:
    """Two groups of which the guard refuses one: an estimate without an interval."""

    of: Between
    confidence: float
    estimate: float
    guard: Guard

    def __str__(self) -> str:
        return "refused by the guard"


def guarded_ratio(
    base: PerTrial, group: PerTrial, seen: Sequence[Guard], confidence: float = 0.95
) -> RatioInterval | GroupsNeedTrials | RefusedComparison:
    """Return what `ratio_interval` returns, or a refusal where the guard refuses one of the groups.

    Args:
        seen: what the guard found in the two.
    """
    found = ratio_interval(base, group, confidence)
    refused = next((side for side in seen if side.refused), None)
    if refused is None or not isinstance(found, RatioInterval):
        return found
    return RefusedComparison("ratio", confidence, found.estimate, refused)


def guarded_interval(
    values: PerTrial, p: float, seen: Guard | None, confidence: float = 0.95
) -> Interval | NeedsTrials | RefusedInterval:
    """Return what `quantile_interval` returns, or the refusal of the guard in the place of an interval.

    Args:
        values: one per trial; further as for `quantile_interval`.
        seen: what the guard found in them; None where they have no order.
    """
    found = quantile_interval(values, p, confidence)
    if seen is None or not seen.refused or isinstance(found, NeedsTrials):
        return found
    return RefusedInterval(p, confidence, found.n, found.estimate, seen)
