"""Values that are sent as they are written: true or false, and single words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.setting import Finding


class PlainReader:
    """Reads what has no parts and meets nothing else."""

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation

    def sent(self, name: str, value: Any, sending: Sending) -> dict[str, Any]:
        """Return the value as it was read."""
        return {name: value}

    def findings(self, raw: Any, around: Around) -> Iterator[Finding]:
        """Yield nothing: the annotation says all."""
        yield from ()


def flag() -> PlainReader:
    """Return a reader of true or false."""
    return PlainReader(bool)


def words(allowed: Sequence[str]) -> PlainReader:
    """Return a reader of one of the words."""
    return PlainReader(literal(allowed))


def literal(allowed: Sequence[str]) -> Any:
    """Return the annotation of one of the words."""
    return Literal.__getitem__(tuple(allowed))
