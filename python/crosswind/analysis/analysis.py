"""What samples say: quantiles with intervals, how many trials they need, and how groups compare.

Intervals and comparisons are over trials, and refused where the guard finds that these are not independent.
Where rows are operations or shares of trials, each trial is reduced to one value first (`each.py`); pooling
the rows instead gives a description and no interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.each import Each
from crosswind.analysis.samples import Samples
from crosswind.errors import CrosswindError
from crosswind.stats import (
    Confirm,
    FewerTrials,
    GroupsNeedTrials,
    Guard,
    Interval,
    KruskalWallis,
    MannWhitney,
    NeedsTrials,
    NotPerTrial,
    PerTrial,
    RatioInterval,
    Refused,
    RefusedComparison,
    RefusedInterval,
    ShiftInterval,
    coefficient_of_variation,
    confirm,
    fewer_trials,
    guard_together,
    guarded_interval,
    guarded_ratio,
    hodges_lehmann,
    holm,
    kruskal_wallis,
    mann_whitney,
    quantiles,
)

Estimate = Interval | NeedsTrials | RefusedInterval
Difference = RatioInterval | ShiftInterval | GroupsNeedTrials | RefusedComparison

# What is usual in print (Uta et al., NSDI '20, Figure 1); asked only of groups so large that they can tell.
FEW = (3, 10)
_FEW_OF = range(20, 2001)


class PoolingRefused(CrosswindError):
    """Rows that share trials were to be taken as independent."""


@dataclass(frozen=True)
class Question:
    """What is asked of samples."""

    quantiles: tuple[float, ...] = (0.5, 0.9, 0.99)
    each: Each | None = None  # what a trial of several rows is reduced to
    pool: bool = False  # describe all rows together, without intervals
    within: float = 0.05  # the share of the median that its interval should keep to
    confidence: float = 0.95
    baseline: str | None = None  # the group that others are compared with; None for the first
    ordered: bool = True  # rows are in the order in which the trials ran, so that the guard can be asked


@dataclass(frozen=True)
class Group:
    """One group of samples."""

    name: str
    rows: int
    trials: PerTrial | None  # one value each, in the order of the file; None where rows were pooled
    quantiles: dict[float, Estimate | float]  # over trials; plain numbers where rows were pooled
    variation: float | None  # standard deviation over mean of what the quantiles are of; None without one
    guard: Guard | None  # None where rows were pooled or have no order
    repetitions: (
        Confirm | None
    )  # None with too few trials, where a share of the median says nothing, or refused
    fewer: tuple[FewerTrials, ...]  # what fewer trials would have said of the median; none where refused


@dataclass(frozen=True)
class Comparison:
    """A group against the baseline."""

    name: str
    baseline: str
    test: MannWhitney  # of the group against the baseline
    p_holm: float  # its p value, corrected for how many comparisons there are
    difference: Difference | None  # a ratio where all values are above 0; None where a value is infinite

    @property
    def shown(self) -> bool:
        """Whether a difference is shown, at 5 % for all comparisons together; never of refused trials."""
        return self.p_holm < 0.05 and not isinstance(self.difference, RefusedComparison)


@dataclass(frozen=True)
class Analysis:
    """What samples say."""

    file: str
    column: str
    by: str | None
    trial: str | None
    each: str | None  # what trials were reduced to; None where each row is a trial
    pooled: bool
    within: float
    confidence: float
    groups: list[Group]
    overall: KruskalWallis | None  # of three groups or more
    comparisons: list[Comparison]
    left_out: int  # planned trials of a run that are in none of this
    set_aside: tuple[str, ...]  # columns without numbers beside the only one that has them


def analyse(samples: Samples, question: Question) -> Analysis:
    """Return what `samples` say.

    Raises:
        PoolingRefused: trials have several rows, and nobody said what each is reduced to.
        CrosswindError: there is no such baseline, or a value that the question cannot be asked of.
    """
    if question.pool:
        groups = [
            _pooled(name, samples.values[samples.group_of == number], question)
            for number, name in enumerate(samples.groups)
        ]
        return _analysis(samples, question, None, groups, None, [])
    reduced = _reduced(samples, question.each)
    rows = np.bincount(samples.group_of, minlength=len(samples.groups)).tolist()
    buckets = samples.buckets or [()] * len(samples.groups)
    trials = {name: _per_trial(samples, number, question.each) for number, name in enumerate(samples.groups)}
    told_of = dict(zip(samples.groups, buckets, strict=True))
    seen = guard_together(trials, told_of) if question.ordered else {}
    groups = [
        _group(name, rows[number], trials[name], question, seen.get(name))
        for number, name in enumerate(samples.groups)
    ]
    # A condition of which no trial counts is shown, and cannot be compared.
    told = [group for group in groups if group.rows]
    baseline = _baseline(told, question.baseline)
    others = [group for group in told if group is not baseline]
    tests = [mann_whitney(_trials(group), _trials(baseline)) for group in others]
    corrected = holm([test.p for test in tests]) if tests else ()
    comparisons = [
        Comparison(
            group.name, baseline.name, test, float(p), _difference(baseline, group, question.confidence)
        )
        for group, test, p in zip(others, tests, corrected, strict=True)
    ]
    overall = kruskal_wallis([_trials(group) for group in told]) if len(told) > 2 else None
    return _analysis(samples, question, question.each if reduced else None, groups, overall, comparisons)


def _analysis(
    samples: Samples,
    question: Question,
    each: Each | None,
    groups: list[Group],
    overall: KruskalWallis | None,
    comparisons: list[Comparison],
) -> Analysis:
    return Analysis(
        file=samples.file,
        column=samples.column,
        by=samples.by,
        trial=samples.trial,
        each=None if each is None else each.name,
        pooled=question.pool,
        within=question.within,
        confidence=question.confidence,
        groups=groups,
        overall=overall,
        comparisons=comparisons,
        left_out=samples.left_out,
        set_aside=samples.set_aside,
    )


def _reduced(samples: Samples, each: Each | None) -> bool:
    """Return whether trials have several rows, which then have to be reduced to one value each.

    Raises: PoolingRefused: they have, and nobody said to what; or several share a session.
    """
    if samples.trial_of is None:
        if each is not None:
            raise CrosswindError("--each: reduces trials of several rows; name their column with --trial")
        return False
    rows, trials = samples.values.size, len(samples.trials)
    # All in one session is how most people measure: the interval is then of that session.
    if samples.session is not None and len(samples.groups) < samples.sessions < trials:
        raise PoolingRefused(
            f"{samples.file}: {trials} trials come from {samples.sessions} sessions (column "
            f"{samples.session}). Trials of one session share machine and moment and are not independent: "
            f"make one value of each (--trial {samples.session} --each p50), or say that they are "
            f"(--trial {samples.trial})"
        )
    if rows > trials and each is None:
        raise PoolingRefused(
            f"{samples.file}: {rows} rows come from {trials} trials (column {samples.trial}). Rows of one "
            "trial share its moment and are not independent: an interval over them would be many times too "
            "narrow. Say what each trial gives, such as --each p99; or --pool to describe all rows without "
            "intervals"
        )
    if rows == trials and each is not None and each.shared:
        raise CrosswindError(
            f"--each {each.name}: every trial (column {samples.trial}) has one row, which shares nothing; "
            "name the column that tells trials apart with --trial"
        )
    return rows > trials


def _per_trial(samples: Samples, group: int, each: Each | None) -> PerTrial:
    """Return one value per trial of a group, in the order of the file."""
    rows = samples.group_of == group
    values = samples.values[rows]
    if samples.trial_of is None:
        try:
            return PerTrial.numbered(values)
        except NotPerTrial as refusal:
            raise PoolingRefused(f"{refusal}; or --pool to describe all rows without intervals") from refusal
    trials = samples.trial_of[rows]
    if each is None:
        return PerTrial(tuple(samples.trials[trial] for trial in trials), tuple(values.tolist()))
    # Trials are numbered in the order in which they first appear.
    order = np.argsort(trials, kind="stable")
    numbers, starts = np.unique(trials[order], return_index=True)
    parts = np.split(values[order], starts[1:])
    if each.shared:
        _check_shares(samples, group, each.name, parts)
    return PerTrial(tuple(samples.trials[number] for number in numbers), tuple(map(each.of, parts)))


def _check_shares(samples: Samples, group: int, each: str, trials: Sequence[NDArray[np.float64]]) -> None:
    """Refuse trials whose rows are no shares, or whose figures would not be of the same thing."""
    where = f" of {samples.groups[group]}" if samples.by else ""
    sizes = sorted({trial.size for trial in trials})
    if len(sizes) > 1:
        raise CrosswindError(
            f"--each {each}: trials{where} have {sizes[0]} to {sizes[-1]} rows, whose shares are not "
            "to be compared; tell them apart with one more --by, or leave out and name trials that lost rows"
        )
    bad = [trial for trial in trials if trial.min() < 0 or trial.max() == math.inf]
    if bad:
        value = min(bad[0]) if bad[0].min() < 0 else math.inf
        raise CrosswindError(
            f"--each {each}: {samples.column} has {value:g}{where}; a share is neither negative nor infinite"
        )


def _group(name: str, rows: int, trials: PerTrial, question: Question, seen: Guard | None) -> Group:
    refused = seen is not None and seen.refused
    estimates = {p: guarded_interval(trials, p, seen, question.confidence) for p in question.quantiles}
    repetitions = None if refused else _repetitions(trials, question)
    fewer = () if refused else _fewer(trials, question.confidence)
    return Group(name, rows, trials, dict(estimates), _variation(trials.values), seen, repetitions, fewer)


def _fewer(trials: PerTrial, confidence: float) -> tuple[FewerTrials, ...]:
    if len(trials) not in _FEW_OF:
        return ()
    return tuple(fewer_trials(trials.values, few, confidence=confidence) for few in FEW)


def _pooled(name: str, values: NDArray[np.float64], question: Question) -> Group:
    found = dict(zip(question.quantiles, quantiles(values, question.quantiles), strict=True))
    return Group(name, values.size, None, dict(found), _variation(values), None, None, ())


def _variation(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    try:
        return coefficient_of_variation(values)
    except Refused:
        return None  # Negative, infinite or a single value: no share of a mean describes them.


def _repetitions(trials: PerTrial, question: Question) -> Confirm | None:
    if any(value < 0 for value in trials.values):
        return None  # Where values lie on both sides of 0, a share of their median says little.
    try:
        return confirm(trials.values, within=question.within, confidence=question.confidence)
    except Refused:
        return None


def _baseline(groups: list[Group], name: str | None) -> Group:
    if name is None:
        return groups[0]
    for group in groups:
        if group.name == name:
            return group
    raise CrosswindError(
        f'--baseline: there is no group "{name}"; there are {", ".join(g.name for g in groups)}'
    )


def _trials(group: Group) -> PerTrial:
    assert group.trials is not None  # Pooled groups are never compared.
    return group.trials


def _difference(baseline: Group, group: Group, confidence: float) -> Difference | None:
    """Return how many times larger a group is; by how much, where a value is not above 0."""
    sides = _trials(baseline), _trials(group)
    values = [value for side in sides for value in side.values]
    if not all(math.isfinite(value) for value in values):
        return None
    seen = [side.guard for side in (baseline, group) if side.guard is not None]
    if min(values) > 0:
        return guarded_ratio(*sides, seen, confidence)
    shift = hodges_lehmann(*sides, confidence)
    refused = next((side for side in seen if side.refused), None)
    if refused is None or not isinstance(shift, ShiftInterval):
        return shift
    return RefusedComparison("difference", confidence, shift.estimate, refused)
