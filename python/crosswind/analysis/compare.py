"""Compare two runs: better, worse or undecided, for every condition and every number of a trial.

Estimates are ratios of medians over trials, with exact intervals. The verdict is that of the report: the
interval excludes 1. There is no interval where the guard finds that the trials of a run are not independent.
Among many comparisons, some intervals exclude 1 by chance. So each comparison has a p value that is corrected
for all of them, and differences that remain significant are marked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from crosswind.analysis.comparable import NotComparable, Sameness, sameness
from crosswind.analysis.measure import Measure
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import ConditionSummary, Ratio, Summary
from crosswind.analysis.together import guards
from crosswind.stats import (
    Guard,
    MannWhitney,
    PerTrial,
    RefusedComparison,
    guarded_ratio,
    holm,
    mann_whitney,
    more_trials_to_decide,
    quantile,
)

Verdict = Literal["better", "worse", "undecided", "refused"]


@dataclass(frozen=True)
class Compared:
    """The comparison of one number of a trial, under one condition."""

    condition: str
    measure: Measure
    trials: tuple[int, int]  # of base and other
    lost: tuple[int, int]  # planned trials that finally failed, and are in no number
    medians: tuple[float, float]  # over trials, in the unit of the measure
    ratio: Ratio | None  # other over base; None where a value is not above 0
    test: MannWhitney  # of the other run against the base
    p_holm: float  # its p value, corrected for all comparisons
    verdict: Verdict
    more_trials: int | None  # to add on each side; 0 where it is decided, None where hardly any would decide

    @property
    def holds(self) -> bool:
        """Whether a difference is significant after correction for all comparisons."""
        return self.verdict in ("better", "worse") and self.p_holm < 0.05


@dataclass(frozen=True)
class RunComparison:
    """The comparison of two runs, condition by condition."""

    base: Path
    other: Path
    sameness: Sameness
    primary: Measure  # the application's first figure
    common: list[str]  # conditions that both runs have
    compared: list[Compared]  # of conditions with counted trials in both
    only_base: list[str]  # conditions that the other run does not have
    only_other: list[str]


def compare(base: Path, other: Path, *, force: bool = False) -> RunComparison:
    """Compare the run in `other` with the one in `base`.

    Args:
        base: a results folder, or that of an experiment, which stands for its latest run.
        other: the same.
        force: whether networks, machines, applications or conditions may differ.
    Raises:
        NotAResultsFolder: one of them is none.
        NotComparable: they differ in more than their numbers, or have nothing in common.
    """
    runs = summarise(base), summarise(other)
    for folder, run in zip((base, other), runs, strict=True):
        if not any(trial.counted for trial in run.trials):
            raise NotComparable(
                f"{folder}: no trial counts, since each is pending, failed or void; "
                "let the run end, or look at its report"
            )
    found = sameness(*runs)
    if found.hindrances and not force:
        listed = "".join(f"\n  {line}" for line in found.hindrances)
        raise NotComparable(
            f"{base} and {other} differ in more than their numbers:{listed}\n"
            "run both on one machine from one experiment, or compare them anyway with --force"
        )
    names = [[condition.name for condition in run.conditions] for run in runs]
    common = [name for name in names[0] if name in names[1]]
    untested = [
        (name, measure, sides)
        for name in common
        for measure in _common_measures(*runs)
        if all(sides := tuple(_per_trial(run, name, measure) for run in runs))
    ]
    if not untested:
        raise NotComparable(
            f"{base} and {other}: no condition in both has counted trials with the same numbers"
        )
    tests = [mann_whitney(of_other, of_base) for _, _, (of_base, of_other) in untested]
    seen = _guards(runs, untested)
    compared = [
        _compared(
            name, measure, sides[0], sides[1], _lost(runs, name), test, float(p), seen[measure.key, name]
        )
        for (name, measure, sides), test, p in zip(untested, tests, holm([t.p for t in tests]), strict=True)
    ]
    return RunComparison(
        runs[0].folder,
        runs[1].folder,
        found,
        runs[0].primary,
        common,
        compared,
        [name for name in names[0] if name not in common],
        [name for name in names[1] if name not in common],
    )


def _common_measures(base: Summary, other: Summary) -> list[Measure]:
    keys = {measure.key for measure in other.measures}
    return [measure for measure in base.measures if measure.key in keys]


def _per_trial(run: Summary, name: str, measure: Measure) -> PerTrial:
    condition = _condition(run, name)
    known = {trial.row.trial: trial.values.get(measure.key) for trial in condition.counted}
    return PerTrial.of({trial: value for trial, value in known.items() if value is not None})


def _condition(run: Summary, name: str) -> ConditionSummary:
    return next(condition for condition in run.conditions if condition.name == name)


def _lost(runs: tuple[Summary, Summary], name: str) -> tuple[int, int]:
    base, other = (_condition(run, name).lost for run in runs)
    return base, other


def _guards(
    runs: tuple[Summary, Summary], compared: Iterable[tuple[str, Measure, tuple[PerTrial, ...]]]
) -> dict[tuple[str, str], list[Guard]]:
    """Return (figure, condition) -> the guard's findings in base and other, all judged together."""
    series: dict[str, dict[tuple[int, str], PerTrial]] = {}
    for name, measure, sides in compared:
        series.setdefault(measure.key, {}).update({(run, name): side for run, side in enumerate(sides)})
    buckets = {
        (run, name): _condition(runs[run], name).buckets for judged in series.values() for run, name in judged
    }
    found = guards(series, buckets, runs[0].primary.key)
    return {
        (figure, name): [seen[run, name] for run in range(len(runs))]
        for figure, seen in found.items()
        for _, name in seen
    }


def _compared(
    name: str,
    measure: Measure,
    base: PerTrial,
    other: PerTrial,
    lost: tuple[int, int],
    test: MannWhitney,
    p_holm: float,
    seen: Sequence[Guard],
) -> Compared:
    positive = all(0 < value < math.inf for side in (base, other) for value in side.values)
    ratio = guarded_ratio(base, other, seen) if positive else None
    trials = len(base), len(other)
    if isinstance(ratio, RefusedComparison):
        verdict: Verdict = "refused"
        more_trials = None
    else:
        verdict = measure.verdict(ratio) or "undecided"
        more_trials = None if ratio is None else more_trials_to_decide(ratio, min(trials))
    return Compared(
        name,
        measure,
        trials,
        lost,
        (quantile(base.values, 0.5), quantile(other.values, 0.5)),
        ratio,
        test,
        p_holm,
        verdict,
        more_trials,
    )
