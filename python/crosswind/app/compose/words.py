"""Commands and durations in compose files."""

from __future__ import annotations

import re
import shlex
from typing import Annotated

from pydantic import PlainValidator

from crosswind.spec.command_line import read_command, read_text
from crosswind.spec.quantities import TIME, QuantityError, shown

_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|us|m|s)")
_DURATION_UNITS = {"h": "h", "m": "min", "s": "s", "ms": "ms", "us": "us"}


def read_words(value: object) -> list[str] | None:
    """Return the words of a command; a text is split like in a shell, but no shell runs it.

    Raises: QuantityError: it is not a command.
    """
    if value is None or value == []:
        return None if value is None else []
    if not isinstance(value, str):
        return read_command(value)
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise QuantityError(f"{shown(value)} cannot be split into words: {str(error).lower()}") from None
    return words or read_command(value)


def read_duration(value: object) -> int:
    """Return the nanoseconds of a duration such as `1m30s`.

    Raises: QuantityError: it is not one.
    """
    parts = _DURATION_PART.findall(value) if isinstance(value, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != value:
        raise QuantityError(f"{shown(value)} is not a duration; write such as 500ms, 5s or 1m30s")
    return sum(TIME.read(number + _DURATION_UNITS[unit]) for number, unit in parts)


def read_whole(value: object) -> int:
    """Return a whole number, also from text, because variables are text.

    Raises: QuantityError: it is not a whole number.
    """
    text = "" if isinstance(value, bool) else str(value)
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise QuantityError(f"{shown(value)} must be a whole number")
    return int(text)


def read_value(value: object) -> str:
    """Return a value of the environment; numbers become text.

    Raises: QuantityError: it is neither a text nor a number.
    """
    return str(value) if isinstance(value, float) else read_text(value)


Words = Annotated[list[str] | None, PlainValidator(read_words)]
ComposeDuration = Annotated[int, PlainValidator(read_duration)]
Whole = Annotated[int, PlainValidator(read_whole)]
Text = Annotated[str, PlainValidator(read_text)]
Value = Annotated[str, PlainValidator(read_value)]
