"""The table of a run that goes on: a row per condition, all from one event, so it costs trials no time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from crosswind.stream import ConditionSoFar, SoFar
from crosswind.text.change import change
from crosswind.text.units import Unit, column_unit, short_names, units_of

if TYPE_CHECKING:
    from rich.table import Table

_STYLES = {"degraded": "yellow", "unverified": "yellow", "void": "red", "failed": "red", "interrupted": "dim"}


def so_far_table(
    known: SoFar, baseline: str, ends: Mapping[str, Counter[str]] = MappingProxyType({})
) -> Table:
    """Return the table.

    Args:
        baseline: the condition with which the others are compared.
        ends: condition -> how often its attempts ended in which way; `faithful` is not shown.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    short = short_names(condition.condition for condition in known.conditions)
    unit = column_unit((condition.value for condition in known.conditions), units_of(known.unit))
    against = next((c.value for c in known.conditions if c.condition == baseline), None)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("condition", overflow="ellipsis", no_wrap=True)
    table.add_column(f"{known.figure} {unit.name}".rstrip(), justify="right", no_wrap=True)
    intervals = [_interval(condition, unit) for condition in known.conditions]
    with_intervals = not trials_for_interval(known)
    if with_intervals:
        table.add_column(f"{known.confidence * 100:g} % interval", justify="right", no_wrap=True, style="dim")
    table.add_column("vs baseline", justify="right", no_wrap=True)
    table.add_column("trials", no_wrap=True)
    for condition, interval in zip(known.conditions, intervals, strict=True):
        table.add_row(
            escape(short[condition.condition]),
            unit.show(condition.value),
            *([interval] if with_intervals else ()),
            "baseline" if condition.condition == baseline else _change(condition.value, against),
            _trials(condition, ends.get(condition.condition, Counter())),
        )
    return table


def trials_for_interval(known: SoFar) -> int | None:
    """Return how many trials an interval needs; None where a condition has one, or is refused it."""
    if any(condition.low is not None or condition.needed is None for condition in known.conditions):
        return None
    return max(condition.trials + (condition.needed or 0) for condition in known.conditions)


def _interval(condition: ConditionSoFar, unit: Unit) -> str:
    if condition.low is not None and condition.high is not None:
        return f"{unit.show(condition.low)} - {unit.show(condition.high)}"
    # Only a refusal has neither an interval nor a number of trials after which there is one.
    return "refused" if condition.needed is None else f"from {condition.trials + condition.needed} trials"


def _change(value: float | None, against: float | None) -> str:
    return change(value / against) if value is not None and value >= 0 and against else "-"


def _trials(condition: ConditionSoFar, ends: Counter[str]) -> str:
    more = condition.needed if condition.low is not None else None
    goal = f" of about {condition.trials + more}" if more else ""
    others = [f"[{style}]{ends[end]} {end}[/{style}]" for end, style in _STYLES.items() if ends[end]]
    return ", ".join([f"{condition.trials}{goal}", *others])
