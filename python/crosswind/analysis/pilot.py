"""Predict how many trials an experiment needs from a pilot: an earlier run of the same application.

The prediction applies the stopping rule to the pilot's trials, for each condition that both have. It uses the
median of a trial's operations or, where there are none, the application's first figure. For a long pilot,
CONFIRM gives the exact number. Otherwise the width of the interval is assumed to fall with the root of the
number of trials. Blocks are complete, so the condition that needs most trials decides for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from crosswind.analysis.measure import Measure
from crosswind.analysis.plain import as_plain
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Summary
from crosswind.errors import CrosswindError
from crosswind.spec.resolved import Resolved, ResolvedUntil
from crosswind.stats import LOOKS, Guard, PerTrial, Refused, StoppingRule, confirm, guard_together

# The target of an experiment without one: that of the report's curves of repetitions.
_TARGET = ResolvedUntil(quantile=0.5, within=0.05, confidence=0.95)
_NO_END = 10**9


@dataclass(frozen=True)
class Needed:
    """The prediction for one condition."""

    condition: str
    pilot: int  # counted trials of the pilot
    trials: int | None  # that the interval needs; None where the pilot cannot predict it
    only_least: bool  # the pilot has too few to show their spread: `trials` is the minimum for any interval
    why_not: str  # why there is no prediction, with the remedy; empty where there is one


@dataclass(frozen=True)
class Prediction:
    """How many trials of each condition the interval needs."""

    pilot: Path
    figure: str
    quantile: float
    within: float
    confidence: float
    conditions: list[Needed]
    trials_each: int | None  # the largest need of a condition; None where none is known
    at_most: int  # of the experiment
    one_s: float | None  # length of a trial of the pilot, with the experiment's rest; None if unknown

    @property
    def expected_s(self) -> float | None:
        """Time for the complete blocks; None if unknown."""
        if self.trials_each is None or self.one_s is None:
            return None
        return self.one_s * self.trials_each * len(self.conditions)

    def as_json(self) -> dict[str, JsonValue]:
        """Return the prediction as plain values."""
        return as_plain(self) | {"expected_s": self.expected_s}


def predict(resolved: Resolved, pilot: Path) -> Prediction:
    """Predict the trials that a resolved experiment needs.

    Raises:
        NotAResultsFolder: the pilot is none.
        CrosswindError: it ran another application, or shares no condition with the experiment.
    """
    summary = summarise(pilot)
    application, names = resolved.application.name, [c.name for c in resolved.conditions]
    if summary.application != application:
        raise CrosswindError(
            f"--pilot: {pilot} ran {summary.application}, and the experiment runs {application}; "
            "give a run of the same application"
        )
    found = {condition.name: condition for condition in summary.conditions}
    if not found.keys() & set(names):
        raise CrosswindError(
            f"--pilot: {pilot} has none of the conditions {', '.join(names)}; it has {', '.join(found)}"
        )
    repeat = resolved.trials.repeat
    until = repeat.until or _TARGET
    # A fixed number of trials needs only one look.
    rule = StoppingRule(
        quantile=until.quantile,
        within=until.within,
        confidence=until.confidence,
        at_least=1,
        at_most=_NO_END if repeat.until else 1,
    )
    measure = _judged_by(summary)
    shared = {name: found[name].per_trial(measure.key) for name in names if name in found}
    seen = guard_together(shared, {name: found[name].buckets for name in shared})
    conditions = [
        _needed(name, shared[name], seen[name], rule)
        if name in shared
        else Needed(name, 0, None, False, "not in the pilot")
        for name in names
    ]
    known = [needed.trials for needed in conditions if needed.trials is not None]
    return Prediction(
        pilot=pilot,
        figure=measure.label,
        quantile=rule.quantile,
        within=rule.within,
        confidence=rule.confidence,
        conditions=conditions,
        trials_each=max([*known, repeat.at_least]) if known else None,
        at_most=repeat.at_most,
        one_s=_one_s(summary, resolved.trials.rest_s),
    )


def _judged_by(summary: Summary) -> Measure:
    medians = (m for m in summary.measures if m.of_operations and m.statistic == "p50")
    return next(medians, summary.primary)


def _needed(name: str, values: PerTrial, seen: Guard, rule: StoppingRule) -> Needed:
    look = rule.look(values, seen)
    if look.guard.refused:
        return Needed(name, look.n, None, False, f"{look.waiting_for}; {look.guard.remedy}")
    if look.modes or look.forecast is None:
        return Needed(name, look.n, None, False, look.waiting_for)
    trials = min(look.forecast, _confirmed(values, rule) or look.forecast)
    return Needed(name, look.n, trials, look.achieved == math.inf, "")


def _confirmed(values: PerTrial, rule: StoppingRule) -> int | None:
    """Return the number of trials from CONFIRM, where the pilot has enough for that."""
    try:
        found = confirm(values.values, within=rule.within, p=rule.quantile, confidence=rule.confidence)
    except Refused:
        return None
    if found.needed is None or found.strained:
        return None
    return found.needed + min(LOOKS, rule.at_most) - 1


def _one_s(summary: Summary, rest_s: float | None) -> float | None:
    took_s = [float(t.row.duration_s) for t in summary.trials if t.counted and t.row.duration_s is not None]
    return sum(took_s) / len(took_s) + rest_s if took_s and rest_s is not None else None
