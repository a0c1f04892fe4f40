"""A figure as it is printed: the median over rounds with its range, and what is wanted of it."""

import statistics
from collections.abc import Sequence
from typing import Any

Figure = dict[str, Any]


def figure(name: str, unit: str, values: Sequence[float], wanted: str | None, **beside: Any) -> Figure:
    """Return a figure from one value a round; `beside` is what to read it with, such as noise."""
    return {
        "figure": name,
        "unit": unit,
        "value": round(statistics.median(values), 4),
        "min": round(min(values), 4),
        "max": round(max(values), 4),
        "rounds": len(values),
        "wanted": wanted,
        **beside,
    }


def skipped(name: str, reason: str) -> Figure:
    """Return what is printed in the place of a figure that could not be measured here."""
    return {"figure": name, "skipped": reason}
