"""Whether an experiment that grows needs another block: a question to the interval of every condition."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from crosswind.runner.figures import value_of
from crosswind.stats import Interval, PerTrial, quantile_interval
from crosswind.store import Journal, Metric

# Where operations are known, a trial is judged by their median: tails are too restless to wait for.
OPERATIONS = ("latency", "response")


def too_wide(resolved: Mapping[str, Any], journal: Journal) -> list[str]:
    """Return the conditions whose interval is wider than asked for, or cannot be computed yet.

    The interval is that of `until.quantile` over trials of their median latency or, where the application
    has none, of its first figure; a failed trial counts as infinitely bad. Without `until` the list is empty:
    the number of trials was fixed in advance.
    """
    until = resolved["trials"]["repeat"]["until"]
    if until is None:
        return []
    figure = _judged_by(resolved["application"]["figures"])
    values = _values(journal, figure)
    worst = math.inf if figure["better"] == "lower" else -math.inf
    return [
        condition["name"]
        for condition in resolved["conditions"]
        if not _is_narrow(PerTrial.of(values.get(condition["name"], {}), failed=worst), until)
    ]


def _judged_by(figures: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    medians = (f for f in figures if f["metric"] in OPERATIONS and f["statistic"] == "p50")
    return next(medians, figures[0])


def _is_narrow(values: PerTrial, until: Mapping[str, Any]) -> bool:
    found = quantile_interval(values, until["quantile"], until["confidence"])
    if not isinstance(found, Interval):
        return False
    # With failed trials an end or even the estimate may be infinite, which is as wide as can be.
    half = (found.high - found.low) / 2
    return math.isfinite(half) and half <= until["within"] * abs(found.estimate)


def _values(journal: Journal, figure: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return condition -> trial -> value, for each trial its best attempt; None where none counts."""
    metrics: dict[str, list[Metric]] = {}
    for trial, metric in journal.metrics():
        metrics.setdefault(trial, []).append(metric)
    values: dict[str, dict[str, float | None]] = {}
    for planned, attempts in journal.attempts().items():
        if attempts:
            counted: Sequence[str] = [row.trial for row in attempts if row.satisfies]
            value = value_of(figure, metrics.get(counted[-1], ())) if counted else None
            values.setdefault(attempts[0].condition, {})[planned] = value
    return values
