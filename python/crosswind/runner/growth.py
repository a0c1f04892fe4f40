"""Whether an experiment that grows needs another block: the stopping rule judges each condition."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from crosswind.curves import BucketHistory
from crosswind.results import Journal, Measurement, Metric
from crosswind.results.buckets import Credits, bucket_histories, credits_of
from crosswind.results.documents import WITHOUT_IT, read_document
from crosswind.runner.figures import value_of
from crosswind.spec.resolved import Resolved, ResolvedFigure
from crosswind.stats import PerTrial, StoppingLook, StoppingRule, guard_together

# Where operations are known, a trial is judged by their median: tails vary too much to wait for.
OPERATIONS = ("latency", "response")


def unsettled(resolved: Resolved, journal: Journal, folder: Path) -> dict[str, StoppingLook]:
    """Return the conditions that need more trials, each with what the stopping rule found."""
    return {name: look for name, look in looks(resolved, journal, folder).items() if not look.stop}


def looks(resolved: Resolved, journal: Journal, folder: Path) -> dict[str, StoppingLook]:
    """Return what the stopping rule found for each condition.

    The rule looks at the interval of `until.quantile` over trials of their median latency or, where the
    application has none, of its first figure. A failed trial counts as infinitely bad. The rule also looks at
    the buckets that outlive trials, whose content is in the measurements in `folder`. Without `until`, the
    number of trials is fixed, and there is nothing to find.
    """
    repeat = resolved.trials.repeat
    until = repeat.until
    if until is None:
        return {}
    rule = StoppingRule(
        quantile=until.quantile,
        within=until.within,
        confidence=until.confidence,
        at_least=repeat.at_least,
        at_most=repeat.at_most,
    )
    figure = _judged_by(resolved.application.figures)
    values = values_of(journal, figure)
    worst = math.inf if figure.better == "lower" else -math.inf
    names = [condition.name for condition in resolved.conditions]
    trials = {name: PerTrial.of(values.get(name, {}), failed=worst) for name in names}
    # Judged together, as in the report: a condition that is refused by chance alone would cost a block.
    seen = guard_together(trials, histories(resolved, journal, folder))
    return {name: rule.look(trials[name], seen[name]) for name in names}


def can_settle(looks: Mapping[str, StoppingLook]) -> bool:
    """Return whether more trials can help; they cannot where trials already drained a bucket."""
    return any(look.guard.leak != "bucket" for look in looks.values())


def performance(resolved: Resolved, journal: Journal) -> dict[str, list[float]]:
    """Return condition -> the value of each faithful or degraded trial in the figure of profiles.

    That figure is the throughput of a closed loop, or else the first one. A failed trial has no value.
    """
    figures = resolved.application.figures
    closed_loop = figures[0].metric == "latency"
    figure = next((f for f in figures if closed_loop and f.better == "higher"), figures[0])
    return {
        condition: [value for value in trials.values() if value is not None and 0 < value < math.inf]
        for condition, trials in values_of(journal, figure).items()
    }


def forecast(looks: Mapping[str, StoppingLook]) -> str:
    """Return in one line what conditions lack that need more trials, and how many trials that may take."""
    farthest = max(looks, key=lambda name: looks[name].forecast or math.inf)
    look = looks[farthest]
    number = f"about {look.forecast} trials of each" if look.forecast else "no forecast"
    others = f" (and {len(looks) - 1} more)" if len(looks) > 1 else ""
    return f"{farthest}{others} after {look.n}: {look.waiting_for}; {number}"


def histories(resolved: Resolved, journal: Journal, folder: Path) -> dict[str, list[BucketHistory]]:
    """Return condition -> the buckets that outlive its trials, whose content is in `folder`."""
    if resolved.trials.budgets != "kept":
        return {}
    credits = _credits(journal, folder)
    return {name: bucket_histories(resolved, trials) for name, trials in credits.items()}


def _credits(journal: Journal, folder: Path) -> dict[str, list[Credits]]:
    """Return condition -> the credit buckets of each trial that counts, in the order in which they ran."""
    found: dict[str, list[Credits]] = {}
    for attempts in journal.attempts().values():
        for row in attempts:
            path = folder / "monitors" / f"{row.trial}.json"
            if row.satisfies and path.is_file():
                measurement = read_document(path, Measurement, WITHOUT_IT)
                found.setdefault(row.condition, []).append(credits_of(measurement))
    return found


def _judged_by(figures: Sequence[ResolvedFigure]) -> ResolvedFigure:
    medians = (f for f in figures if f.metric in OPERATIONS and f.statistic == "p50")
    return next(medians, figures[0])


def values_of(journal: Journal, figure: ResolvedFigure) -> dict[str, dict[str, float | None]]:
    """Return condition -> trial -> value, of the last attempt that counts; None where none does."""
    metrics: dict[str, list[Metric]] = {}
    for trial, metric in journal.metrics():
        metrics.setdefault(trial, []).append(metric)
    values: dict[str, dict[str, float | None]] = {}
    for planned, attempts in journal.attempts().items():
        # An interrupted attempt says nothing about its condition; such a trial counts as not tried.
        if any(row.status != "interrupted" for row in attempts):
            counted: Sequence[str] = [row.trial for row in attempts if row.satisfies]
            value = value_of(figure, metrics.get(counted[-1], ())) if counted else None
            values.setdefault(attempts[0].condition, {})[planned] = value
    return values
