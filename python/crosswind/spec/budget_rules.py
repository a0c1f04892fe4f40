"""What must hold where trials keep the budgets of credit buckets, or rest until these are back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from crosswind.spec.condition import PLACES
from crosswind.spec.document import Path
from crosswind.spec.draft import items, value_at
from crosswind.spec.quantities import AUTO


def budget_findings(trials: Any, conditions: Iterable[Any]) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with `rest` and `budgets` of `trials`.

    Args:
        conditions: all of the experiment, as plain values.
    """
    kept = value_at(trials, "budgets") == "kept"
    if value_at(trials, "rest") == AUTO and not kept:
        yield (
            ("rest",),
            '"auto" waits for budgets that are kept, and every trial has fresh ones; write a time, such as '
            "1s, or add budgets: kept",
        )
    if not kept:
        return
    buckets = [bucket for condition in conditions for bucket in _credit_buckets(condition)]
    if not buckets:
        message = '"kept" is about credit buckets, and no condition begins with one; leave it out'
        yield ("budgets",), message
    if any(value_at(bucket, "loop") is not None for bucket in buckets):
        yield (
            ("budgets",),
            '"kept" cannot keep a bucket with a `loop`, whose switch has a state beside the budget; take the '
            "exact bucket, or write budgets: fresh",
        )


def _credit_buckets(condition: Any) -> list[Any]:
    """Return the credit buckets with which a condition begins."""
    return [
        element["credit"]
        for place in PLACES
        for _, element in items(condition, place)
        if isinstance(element, dict) and "credit" in element
    ]
