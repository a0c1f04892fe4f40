"""Rules for trials that keep the budgets of credit buckets, or rest until the budgets are full again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from crosswind.spec.description import Description, descriptions
from crosswind.spec.document import Path
from crosswind.spec.draft import value_at
from crosswind.spec.places import PLACES, elements_at
from crosswind.spec.quantities import AUTO


def budget_findings(trials: JsonValue, conditions: Iterable[JsonValue]) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with `rest` and `budgets` of `trials`.

    Args:
        conditions: all of the experiment, as plain values.
    """
    kept = value_at(trials, "budgets") == "kept"
    if value_at(trials, "rest") == AUTO and not kept:
        yield (
            ("rest",),
            '"auto" waits for kept budgets, and here every trial has fresh ones; write a time, such as '
            "1s, or add budgets: kept",
        )
    if not kept:
        return
    drained = [found for condition in conditions for found in _drained(condition)]
    if not drained:
        kinds = " or ".join(kind for kind, each in descriptions().items() if each.drains)
        message = f'"kept" applies to {kinds}, and no condition begins with one; remove it'
        yield ("budgets",), message
    for kind, key in dict.fromkeys(_in_the_way(drained)):
        yield (
            ("budgets",),
            f'"kept" does not work for a {kind} with `{key}`, which has more state than its budget; '
            f"remove `{key}`, or write budgets: fresh",
        )


def _in_the_way(drained: list[tuple[Description, JsonValue]]) -> Iterator[tuple[str, str]]:
    """Yield parameters that do not work with kept levels, each with its kind."""
    for description, raw in drained:
        for key in description.kept_without:
            if value_at(raw, key) is not None:
                yield description.kind, key


def _drained(condition: JsonValue) -> list[tuple[Description, JsonValue]]:
    """Return the elements at the start of a condition whose level trials may keep."""
    return [
        (description, element[kind])
        for place in PLACES
        for _, element in elements_at(condition, place)
        for kind, description in descriptions().items()
        if description.drains and isinstance(element, dict) and kind in element
    ]
