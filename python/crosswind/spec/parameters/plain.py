"""Values that are sent as written: true or false, and single words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import JsonValue

from crosswind.spec.base import Annotation
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding


class PlainReader:
    """Reads a value that no rule checks."""

    def __init__(self, annotation: Annotation) -> None:
        self.annotation = annotation

    def sent(self, name: str, value: bool | str, sending: Sending) -> Parameters:
        """Return the value as it was read."""
        return {name: value}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the annotation checks everything."""
        yield from ()


def flag() -> PlainReader:
    """Return a reader of true or false."""
    return PlainReader(bool)


def words(allowed: Sequence[str]) -> PlainReader:
    """Return a reader of one of the words."""
    return PlainReader(literal(allowed))


def literal(allowed: Sequence[str]) -> Annotation:
    """Return the annotation of one of the words."""
    return Literal.__getitem__(tuple(allowed))
