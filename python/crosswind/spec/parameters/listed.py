"""A list of values of one type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, JsonValue

from crosswind.spec.draft import items
from crosswind.spec.parameters.reader import Around, Reader, Sending
from crosswind.spec.quantities import shown
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding

_ITEM = "item"


class ListReader:
    """Reads a list of at least `least` items; `unique`: each item once."""

    def __init__(self, of: Reader, *, least: int, unique: bool) -> None:
        self.of = of
        self._unique = unique
        self.annotation = Annotated[list[of.annotation], Field(min_length=least)]  # type: ignore[name-defined]

    def sent(self, name: str, value: list[object], sending: Sending) -> Parameters:
        """Return the items as each is sent."""
        return {name: [self.of.sent(_ITEM, each, sending)[_ITEM] for each in value]}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong with the items, and items that are given twice."""
        if not isinstance(raw, list):
            return
        before: list[JsonValue] = []
        for path, item in items(raw):
            if self._unique and item in before:
                yield path, f"{shown(item)} is given twice; remove one of the two"
            before.append(item)
            for inner, message in self.of.findings(item, around):
                yield (*path, *inner), message
