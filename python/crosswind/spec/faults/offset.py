"""A time that may be negative: how far a clock is ahead."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from crosswind.spec.quantities import TIME, QuantityError, shown

# Ten years of 365 days, as the agent takes at most: no clock gets before 1970.
OFFSET_MAX_NS = 3650 * 24 * TIME.units["h"]


def read_offset(value: object) -> int:
    """Return nanoseconds; negative where the text begins with a minus sign.

    Raises: QuantityError: it is no time, or more than OFFSET_MAX_NS.
    """
    is_behind = isinstance(value, str) and value.startswith("-")
    offset_ns = -TIME.read(str(value)[1:]) if is_behind else TIME.read(value)
    if abs(offset_ns) > OFFSET_MAX_NS:
        raise QuantityError(
            f"{shown(value)} is more than ten years; write at most {TIME.text(OFFSET_MAX_NS)}"
        )
    return offset_ns


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
