"""Whether an experiment that grows needs another block: a question to the interval of every condition."""

from collections.abc import Mapping, Sequence
from typing import Any

from crosswind.stats import Interval, PerTrial, quantile_interval
from crosswind.store import Journal

# The value of a trial that is looked at: its own median latency.
METRIC, STATISTIC = "latency", "p50"


def too_wide(resolved: Mapping[str, Any], journal: Journal) -> list[str]:
    """Return the conditions whose interval is wider than asked for, or cannot be computed yet.

    The interval is that of `until.quantile` over trials of their median latency; a failed trial counts as
    +inf. Without `until` the list is empty: the number of trials was fixed in advance.
    """
    until = resolved["trials"]["repeat"]["until"]
    if until is None:
        return []
    values = _values(journal)
    return [
        condition["name"]
        for condition in resolved["conditions"]
        if not _is_narrow(values.get(condition["name"], {}), until)
    ]


def _is_narrow(values: Mapping[str, float | None], until: Mapping[str, Any]) -> bool:
    found = quantile_interval(PerTrial.of(values), until["quantile"], until["confidence"])
    if not isinstance(found, Interval):
        return False
    # With a failed trial the upper end may be infinite, and the comparison is then false, as it should be.
    return bool((found.high - found.low) / 2 <= until["within"] * found.estimate)


def _values(journal: Journal) -> dict[str, dict[str, float | None]]:
    """Return condition -> trial -> value, for each trial its best attempt; None where none counts."""
    measured = {
        trial: metric.value
        for trial, metric in journal.metrics()
        if (metric.metric, metric.statistic) == (METRIC, STATISTIC)
    }
    values: dict[str, dict[str, float | None]] = {}
    for planned, attempts in journal.attempts().items():
        if attempts:
            counted: Sequence[str] = [row.trial for row in attempts if row.satisfies]
            value = measured[counted[-1]] if counted else None
            values.setdefault(attempts[0].condition, {})[planned] = value
    return values
