"""Analyse samples: quantiles with intervals, the number of trials they need, and comparisons of groups.

Intervals and comparisons are over trials. They are refused where the guard finds that trials are not
independent. Where a trial has several rows (operations, or shares), it is reduced to one value first
(`each.py`). Pooling the rows instead gives a description without intervals.
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

# Numbers of trials that are common in publications (Uta et al., NSDI '20, Figure 1), and the sizes of groups
# that can show how often so few trials mislead.
FEW = (3, 10)
_FEW_OF = range(20, 2001)


class PoolingRefused(CrosswindError):
    """Rows of one trial would have been treated as independent."""


@dataclass(frozen=True)
class Question:
    """What to compute from samples."""

    quantiles: tuple[float, ...] = (0.5, 0.9, 0.99)
    each: Each | None = None  # reduces a trial of several rows to one value
    pool: bool = False  # describe all rows together, without intervals
    within: float = 0.05  # the requested half-width of the interval, as a share of the median
    confidence: float = 0.95
    baseline: str | None = None  # the group that the others are compared with; None for the first
    ordered: bool = True  # whether rows are in the order in which the trials ran, which the guard needs


@dataclass(frozen=True)
class SampleGroup:
    """One group of samples."""

    name: str
    rows: int
    trials: PerTrial | None  # one value each, in the order of the file; None where rows were pooled
    quantiles: dict[float, Estimate | float]  # over trials; plain numbers where rows were pooled
    variation: float | None  # standard deviation over mean; None where there is none
    guard: Guard | None  # None where rows were pooled or have no order
    repetitions: Confirm | None  # None with too few trials, negative values, or refused trials
    fewer: tuple[FewerTrials, ...]  # how often fewer trials would have missed the median; empty where refused


@dataclass(frozen=True)
class Comparison:
    """A group against the baseline."""

    name: str
    baseline: str
    test: MannWhitney  # of the group against the baseline
    p_holm: float  # its p value, corrected for all comparisons
    difference: Difference | None  # a ratio where all values are above 0; None where a value is infinite

    @property
    def shown(self) -> bool:
        """Whether a difference is significant at 5 % over all comparisons; never for refused trials."""
        return self.p_holm < 0.05 and not isinstance(self.difference, RefusedComparison)


@dataclass(frozen=True)
class Analysis:
    """The results of an analysis."""

    file: str
    column: str
    by: str | None
    trial: str | None
    each: str | None  # the value of each trial; None where each row is a trial
    pooled: bool
    within: float
    confidence: float
    groups: list[SampleGroup]
    overall: KruskalWallis | None  # of three or more groups
    comparisons: list[Comparison]
    left_out: int  # planned trials of a run that are in none of the figures
    set_aside: tuple[str, ...]  # columns without numbers, where only one column has numbers


def analyse(samples: Samples, question: Question) -> Analysis:
    """Analyse samples.

    Raises:
        PoolingRefused: trials have several rows, and no reduction is given.
        CrosswindError: there is no such baseline, or a value does not allow the analysis.
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
    buckets_of = dict(zip(samples.groups, buckets, strict=True))
    seen = guard_together(trials, buckets_of) if question.ordered else {}
    groups = [
        _group(name, rows[number], trials[name], question, seen.get(name))
        for number, name in enumerate(samples.groups)
    ]
    # A condition without a counted trial is shown, but cannot be compared.
    measured = [group for group in groups if group.rows]
    baseline = _baseline(measured, question.baseline)
    others = [group for group in measured if group is not baseline]
    tests = [mann_whitney(_trials(group), _trials(baseline)) for group in others]
    corrected = holm([test.p for test in tests]) if tests else ()
    comparisons = [
        Comparison(
            group.name, baseline.name, test, float(p), _difference(baseline, group, question.confidence)
        )
        for group, test, p in zip(others, tests, corrected, strict=True)
    ]
    overall = kruskal_wallis([_trials(group) for group in measured]) if len(measured) > 2 else None
    return _analysis(samples, question, question.each if reduced else None, groups, overall, comparisons)


def _analysis(
    samples: Samples,
    question: Question,
    each: Each | None,
    groups: list[SampleGroup],
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
    """Return whether trials have several rows, which have to be reduced to one value.

    Raises: PoolingRefused: they have, and no reduction is given; or several trials share a session.
    """
    if samples.trial_of is None:
        if each is not None:
            raise CrosswindError(
                "--each: reduces trials of several rows; name the column of the trials with --trial"
            )
        return False
    rows, trials = samples.values.size, len(samples.trials)
    # Most people measure in one session; the interval is then valid for that session.
    if samples.session is not None and len(samples.groups) < samples.sessions < trials:
        raise PoolingRefused(
            f"{samples.file}: {trials} trials come from {samples.sessions} sessions (column "
            f"{samples.session}). Trials of one session are not independent: reduce each session to one "
            f"value (--trial {samples.session} --each p50), or declare trials independent "
            f"(--trial {samples.trial})"
        )
    if rows > trials and each is None:
        raise PoolingRefused(
            f"{samples.file}: {rows} rows come from {trials} trials (column {samples.trial}). Rows of one "
            "trial are not independent: an interval over them would be far too narrow. Reduce each trial to "
            "one value, such as --each p99; or --pool to describe all rows without intervals"
        )
    if rows == trials and each is not None and each.shared:
        raise CrosswindError(
            f"--each {each.name}: every trial (column {samples.trial}) has one row, so there are no shares; "
            "name the column of the trials with --trial"
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
    """Refuse trials whose rows are no shares, or whose numbers of rows differ."""
    where = f" of {samples.groups[group]}" if samples.by else ""
    sizes = sorted({trial.size for trial in trials})
    if len(sizes) > 1:
        raise CrosswindError(
            f"--each {each}: trials{where} have {sizes[0]} to {sizes[-1]} rows, and shares of different "
            "numbers are not comparable; separate them with one more --by, or leave out trials that lost rows"
        )
    bad = [trial for trial in trials if trial.min() < 0 or trial.max() == math.inf]
    if bad:
        value = min(bad[0]) if bad[0].min() < 0 else math.inf
        raise CrosswindError(
            f"--each {each}: {samples.column} has {value:g}{where}; a share is neither negative nor infinite"
        )


def _group(name: str, rows: int, trials: PerTrial, question: Question, seen: Guard | None) -> SampleGroup:
    refused = seen is not None and seen.refused
    estimates = {p: guarded_interval(trials, p, seen, question.confidence) for p in question.quantiles}
    repetitions = None if refused else _repetitions(trials, question)
    fewer = () if refused else _fewer(trials, question.confidence)
    return SampleGroup(
        name, rows, trials, dict(estimates), _variation(trials.values), seen, repetitions, fewer
    )


def _fewer(trials: PerTrial, confidence: float) -> tuple[FewerTrials, ...]:
    if len(trials) not in _FEW_OF:
        return ()
    return tuple(fewer_trials(trials.values, few, confidence=confidence) for few in FEW)


def _pooled(name: str, values: NDArray[np.float64], question: Question) -> SampleGroup:
    found = dict(zip(question.quantiles, quantiles(values, question.quantiles), strict=True))
    return SampleGroup(name, values.size, None, dict(found), _variation(values), None, None, ())


def _variation(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    try:
        return coefficient_of_variation(values)
    except Refused:
        return None  # Negative, infinite or single values have no coefficient of variation.


def _repetitions(trials: PerTrial, question: Question) -> Confirm | None:
    if any(value < 0 for value in trials.values):
        return None  # With negative values, a share of the median means little.
    try:
        return confirm(trials.values, within=question.within, confidence=question.confidence)
    except Refused:
        return None


def _baseline(groups: list[SampleGroup], name: str | None) -> SampleGroup:
    if name is None:
        return groups[0]
    for group in groups:
        if group.name == name:
            return group
    raise CrosswindError(
        f'--baseline: there is no group "{name}"; there are {", ".join(g.name for g in groups)}'
    )


def _trials(group: SampleGroup) -> PerTrial:
    assert group.trials is not None  # Pooled groups are never compared.
    return group.trials


def _difference(baseline: SampleGroup, group: SampleGroup, confidence: float) -> Difference | None:
    """Return the ratio of a group to the baseline; the difference where a value is not above 0."""
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
