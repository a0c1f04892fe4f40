"""Files that a file names: they are read with it, and identified by a hash of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from crosswind.spec.base import ReadingContext
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.text_lines import LineError

_Says = TypeVar("_Says")


@dataclass(frozen=True)
class NamedFile(Generic[_Says]):
    """A file that another one names.

    Attributes:
        file: its path as written.
        sha256: of its content.
        says: its content as parsed; None where the file that names it was not read as a whole.
    """

    file: str
    sha256: str
    says: _Says | None


def named_files(value: object) -> Iterator[NamedFile[object]]:
    """Yield the files that a model names, however deep in it."""
    if isinstance(value, NamedFile):
        yield value
        yield from named_files(value.says)
    elif isinstance(value, BaseModel):
        yield from named_files(dict(value))
    elif isinstance(value, dict):
        for item in value.values():
            yield from named_files(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from named_files(item)


def named_file(
    parse: Callable[[bytes], object], example: str
) -> tuple[PlainValidator, PlainSerializer, WithJsonSchema]:
    """Return the pydantic annotations of a file that `parse` reads."""
    schema = {"type": "string", "minLength": 1, "description": "A file.", "examples": [example]}
    return PlainValidator(_reader(parse)), PlainSerializer(vars), WithJsonSchema(schema)


def _reader(parse: Callable[[bytes], _Says]) -> Callable[[object, ValidationInfo], NamedFile[_Says]]:
    def read(value: object, info: ValidationInfo) -> NamedFile[_Says]:
        if not isinstance(value, str) or not value or "\0" in value:
            raise QuantityError(
                f"{shown(value)} is not a file; write its path, relative to the file that names it"
            )
        if not isinstance(info.context, ReadingContext):
            return NamedFile(
                value, "", None
            )  # A rule reads one key; the named file is read only with the whole.
        try:
            content = info.context.named_file(value)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise QuantityError(f"{shown(value)} cannot be read: {reason}; name a readable file") from None
        try:
            return NamedFile(value, hashlib.sha256(content).hexdigest(), parse(content))
        except LineError as error:
            raise QuantityError(f"{shown(value)} {error}") from None

    return read
