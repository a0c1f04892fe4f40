"""A figure as it is printed: the median over rounds with its interval and range, and what is wanted of it."""

import statistics
from collections.abc import Sequence
from typing import Any

from crosswind.stats import Interval, PerTrial, quantile_interval

Figure = dict[str, Any]


def figure(name: str, unit: str, values: Sequence[float], wanted: str | None, **beside: Any) -> Figure:
    """Return a figure from one value a round; `beside` is what to read it with, such as noise.

    `interval` is of the median over rounds, at 95 %, and null with fewer than six rounds, which have none.
    """
    rounds = PerTrial.of({f"round {number}": value for number, value in enumerate(values)})
    interval = quantile_interval(rounds, 0.5)
    known = isinstance(interval, Interval)
    return {
        "figure": name,
        "unit": unit,
        "value": round(statistics.median(values), 4),
        "interval": [round(interval.low, 4), round(interval.high, 4)] if known else None,
        "min": round(min(values), 4),
        "max": round(max(values), 4),
        "rounds": len(values),
        "wanted": wanted,
        **beside,
    }


def skipped(name: str, reason: str) -> Figure:
    """Return what is printed in the place of a figure that could not be measured here."""
    return {"figure": name, "skipped": reason}
