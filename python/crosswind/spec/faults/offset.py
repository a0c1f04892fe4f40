"""A time that may be negative: how far a clock is ahead."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from crosswind.spec.quantities import TIME


def read_offset(value: object) -> int:
    """Return nanoseconds; negative where the text begins with a minus sign."""
    if isinstance(value, str) and value.startswith("-"):
        return -TIME.read(value[1:])
    return TIME.read(value)


def offset_text(offset_ns: int) -> str:
    """Return an offset with its sign, such as `+5s`."""
    return f"{'-' if offset_ns < 0 else '+'}{TIME.text(abs(offset_ns))}"


Offset = Annotated[
    int,
    PlainValidator(read_offset),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": rf"^[+-]?[0-9]{{1,18}}(\.[0-9]{{1,12}})? ?({'|'.join(TIME.units)})$",
            "description": "A time; a minus sign means behind.",
            "examples": ["5s", "-200ms"],
        }
    ),
]
