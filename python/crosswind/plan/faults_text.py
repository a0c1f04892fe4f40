"""The faults of conditions as a plan shows them, with their instants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crosswind.spec.resolved import ResolvedCondition
from crosswind.text.units import exact_seconds

# A nemesis may have a thousand, and a grid of factors as many conditions with the same.
_INSTANTS_MAX = 12
_NAMES_MAX = 3


def fault_lines(by_condition: Mapping[str, Sequence[tuple[int, str]]]) -> Iterator[str]:
    """Yield the faults of conditions by instant; conditions with the same faults are shown together."""
    alike: dict[tuple[tuple[int, str], ...], list[str]] = {}
    for name, found in by_condition.items():
        alike.setdefault(tuple(found), []).append(name)
    for faults, names in alike.items():
        others = len(names) - _NAMES_MAX
        yield f"  {', '.join(names[:_NAMES_MAX])}{f' and {others} more' if others > 0 else ''}"
        times = [exact_seconds(at_ns) for at_ns, _ in faults[:_INSTANTS_MAX]]
        width = max(map(len, times))
        for time, (_, words) in zip(times, faults, strict=False):
            yield f"    {time:>{width}}  {words}"
        if len(faults) > _INSTANTS_MAX:
            more, last = len(faults) - _INSTANTS_MAX, exact_seconds(faults[-1][0])
            yield f"    and {more} more until {last}"


def faults_of(condition: ResolvedCondition) -> list[tuple[int, str]]:
    """Return the instants of a condition that have faults, ns, each with its faults in words."""
    return [(step.at_ns, ", ".join(step.faults)) for step in condition.timeline if step.faults]
