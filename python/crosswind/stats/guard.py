"""The guard: whether trials are repetitions of one experiment, or history leaks from one to the next.

An interval over trials holds if they are independent and of one law. The guard looks for what breaks that, in
this order, and names the first thing that it finds:

1. physical: buckets that outlive trials held the same at every start (`BucketHistory`, where known);
2. the level changed once (permutation CUSUM), or drifts (Mann-Kendall);
3. the level is not stationary (KPSS);
4. neighbours are alike, or alternate (Ljung-Box, Bartels);
5. the interval grew although trials were added: only a warning.

The tests look at ranks or normal scores, so a trial that failed (+inf) is the slowest and nothing else. Their
p values are exact or from permutations, and Holm's rule keeps them together at one false alarm in twenty
independent series; each at 5 % by itself gives one in six. The rule has weights, for what leaks of history
look like. Half of the error is the CUSUM's: a change of level is what drained budgets and throttled machines
leave, and a doubling after 6 of 10 trials has p = 0.02 at best. A quarter is for like neighbours, asked as a
question of its own: half of a two-sided Bartels test waits for alternation, which is rarer. So 20 trials that
keep 0.8 of the deviation of the one before are refused in 81 of 100 series, with a tenth for both of Bartels'
sides in 73; what it costs is alternation, found in 46 instead of 52 where every second of 20 trials takes 1.4
times as long. Dickey-Fuller is not asked: "must reject a random walk" fails for every second independent
series of 10 or 20 trials.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from crosswind.stats.bartels import bartels_tails
from crosswind.stats.bucket_history import BucketHistory
from crosswind.stats.correction import holm
from crosswind.stats.cusum import permutation_cusum
from crosswind.stats.interval import Interval, NeedsTrials, quantile_interval
from crosswind.stats.kpss import kpss_permutation
from crosswind.stats.ljung_box import ljung_box_permutation
from crosswind.stats.mann_kendall import mann_kendall
from crosswind.stats.normal_scores import normal_scores
from crosswind.stats.ratio import RatioInterval, RatioNeedsTrials, ratio_interval
from crosswind.stats.series import is_constant
from crosswind.stats.trials import PerTrial, require_per_trial

# With five trials the rarest order has p = 2/120, which most of the tests can never count.
GUARD_TRIALS_MIN = 6
# Two thousand orders of so many trials take 16 MB and some tens of milliseconds; of a million trials, 16 GB.
GUARD_TRIALS_MAX = 1000
ALPHA = 0.05
# The tests in the order in which they are named, with their shares of ALPHA.
SHARES = {
    "permutation CUSUM": 0.52,
    "Mann-Kendall": 0.04,
    "KPSS": 0.02,
    "Ljung-Box": 0.12,
    "Bartels, alike": 0.25,
    "Bartels, alternating": 0.05,
}

Leak = Literal["bucket", "shift", "trend", "level", "dependence"]


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
    p: dict[str, float] = field(default_factory=dict)  # of each test, after Holm's rule
    warning: str = ""

    @property
    def refused(self) -> bool:
        """Whether an interval over these trials would not hold."""
        return self.verdict == "refused"


def guard(values: PerTrial, buckets: Sequence[BucketHistory] = ()) -> Guard:
    """Return whether `values` may be taken for independent repetitions.

    Args:
        values: one per trial, any unit, in the order in which the trials ran; +inf or -inf for a failed one.
        buckets: what is known of those that outlive trials.
    Returns: "unknown" with fewer than 6 trials or more than 1000, unless a bucket speaks already.
    Raises: NotPerTrial: `values` are not one per trial.
    """
    series = np.array(require_per_trial(values).values, dtype=np.float64)
    n = series.size
    for bucket in buckets:
        if fault := bucket.fault():
            return Guard("refused", n, "bucket", fault, _bucket_remedy(bucket))
    if n < GUARD_TRIALS_MIN:
        return Guard("unknown", n, reason=f"not enough trials to tell: {n} of {GUARD_TRIALS_MIN}")
    if n > GUARD_TRIALS_MAX:
        return Guard(
            "unknown", n, reason=f"too many trials to compare their orders: {n} of {GUARD_TRIALS_MAX}"
        )
    if is_constant(series):
        return Guard("clear", n)
    scores = normal_scores(series)
    shift = permutation_cusum(series)
    alike, alternating = bartels_tails(series)
    single = {
        "permutation CUSUM": shift.p,
        "Mann-Kendall": mann_kendall(series).p,
        "KPSS": kpss_permutation(scores).p,
        "Ljung-Box": ljung_box_permutation(scores).p,
        "Bartels, alike": alike,
        "Bartels, alternating": alternating,
    }
    corrected = holm(list(single.values()), [SHARES[name] for name in single])
    found = dict(zip(single, corrected.tolist(), strict=True))
    failed = {name: p for name, p in found.items() if p < ALPHA}
    if not failed:
        return Guard("clear", n, p=found, warning=_widening(values))
    first, p = next(iter(failed.items()))
    leak, text, remedy = _LEAKS[first]
    reason = f"{text} ({first}, p = {p:.2g})"
    if leak != "shift":
        return Guard("refused", n, leak, reason, remedy, p=found)
    levels = tuple(float(np.median(part)) for part in (series[: shift.at], series[shift.at :]))
    reason = f"{text} after trial {shift.at} of {n} ({first}, p = {p:.2g})"
    return Guard("refused", n, leak, reason, remedy, shift.at, levels, found)


_RESET = (
    "bring the system to the same state before every trial (reset it, take fresh nodes, rest longer), or "
    "make one value of each session in which its state was the same (block by session)"
)
_LEAKS: dict[str, tuple[Leak, str, str]] = {
    "permutation CUSUM": ("shift", "the level changed", _RESET),
    "Mann-Kendall": ("trend", "values drift with the number of the trial", _RESET),
    "KPSS": ("level", "the level is not stationary", _RESET),
    "Ljung-Box": (
        "dependence",
        "a trial resembles, or avoids, those before it",
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
    """An interval exists by its formula and is not given, because the trials are not repetitions."""

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

    of: Literal["ratio", "difference"]
    confidence: float
    estimate: float
    guard: Guard

    def __str__(self) -> str:
        return "refused by the guard"


def guarded_ratio(
    base: PerTrial, group: PerTrial, confidence: float = 0.95, buckets: Sequence[BucketHistory] = ()
) -> RatioInterval | RatioNeedsTrials | RefusedComparison:
    """Return what `ratio_interval` returns, or a refusal where the guard refuses one of the groups.

    Args:
        buckets: of both groups; further as for `guard`.
    """
    found = ratio_interval(base, group, confidence)
    if not isinstance(found, RatioInterval):
        return found
    refused = [seen for seen in (guard(base, buckets), guard(group)) if seen.refused]
    return RefusedComparison("ratio", confidence, found.estimate, refused[0]) if refused else found


def guarded_interval(
    values: PerTrial, p: float, confidence: float = 0.95, buckets: Sequence[BucketHistory] = ()
) -> Interval | NeedsTrials | RefusedInterval:
    """Return what `quantile_interval` returns, or the refusal of the guard in the place of an interval.

    Args:
        values: one per trial, in the order in which the trials ran; further as for `quantile_interval`.
        buckets: as for `guard`.
    """
    found = quantile_interval(values, p, confidence)
    if isinstance(found, NeedsTrials):
        return found
    seen = guard(values, buckets)
    return RefusedInterval(p, confidence, found.n, found.estimate, seen) if seen.refused else found
