"""The places of a condition, and how a file writes elements there: a list, or a mapping of names to lists.

A key of the mapping is a name as in `on`: `link: {leaf0->spine0: [...]}` is a list whose elements have
`on: ["leaf0->spine0"]`.
"""

from __future__ import annotations

from pydantic import JsonValue

from crosswind.spec.document import Path
from crosswind.spec.draft import items, value_at

PLACES = (
    "host.egress",
    "link",
    "switch.ingress",
    "wan",
    "switch.egress",
    "host.ingress",
)  # In the order packets pass.


def elements_at(data: JsonValue, *path: str | int) -> list[tuple[Path, JsonValue]]:
    """Return the elements of the place at `path` of plain values, each with its own path.

    Elements of a mapping get its key as their `on`; an element that has its own `on` is refused elsewhere.
    """
    if not is_by_name(data, *path):
        return items(data, *path)
    return [
        (inner, _restricted(element, str(named[-1])))
        for named, _ in items(data, *path)
        for inner, element in items(data, *named)
    ]


def is_by_name(data: JsonValue, *path: str | int) -> bool:
    """Return whether the place at `path` is a mapping of names to lists."""
    return isinstance(value_at(data, *path), dict)


def _restricted(element: JsonValue, name: str) -> JsonValue:
    if not isinstance(element, dict):
        return element
    return {
        word: {"on": [name], **parameters} if isinstance(parameters, dict) else parameters
        for word, parameters in element.items()
    }
