"""Paths in JSON documents: `results[0].p99`; `["a.b"]` is a key with a dot, `[-1]` the last item."""

from __future__ import annotations

import re

from pydantic import JsonValue

from crosswind.spec.quantities import QuantityError, shown
from crosswind.text.nearest import did_you_mean

_STEP = re.compile(r'\.?(?P<key>[^.\[\]"]+)|\[(?P<index>-?[0-9]{1,9})\]|\["(?P<quoted>[^"]+)"\]')
_KEYS_SHOWN = 12


def read_path(text: str) -> tuple[str | int, ...]:
    """Return the steps of a path.

    Raises: QuantityError: it is not a path.
    """
    steps: list[str | int] = []
    at = 0
    while match := _STEP.match(text, at):
        steps.append(int(match["index"]) if match["index"] else match["key"] or match["quoted"])
        at = match.end()
    if at != len(text) or not steps or text.startswith("."):
        raise QuantityError(f'{shown(text)} is not a path in JSON; write such as results[0].p99 or ["a.b"]')
    return tuple(steps)


def value_at(document: JsonValue, steps: tuple[str | int, ...]) -> JsonValue:
    """Return the value at a path.

    Raises: LookupError: there is none; the message has the step that failed, and what is there instead.
    """
    value = document
    for number, step in enumerate(steps):
        where = _text(steps[:number]) if number else "the document"
        if isinstance(step, int) and isinstance(value, list):
            if not -len(value) <= step < len(value):
                raise LookupError(f"{where} is a list of {len(value)}, without item {step}")
            value = value[step]
        elif isinstance(step, str) and isinstance(value, dict):
            if step not in value:
                known = ", ".join(list(value)[:_KEYS_SHOWN]) or "no keys"
                remedy = did_you_mean(step, value) or f"there are {known}"
                raise LookupError(f'{where} has no key "{step}"; {remedy}')
            value = value[step]
        else:
            raise LookupError(f"{where} is {shown(value)}, which has no {step!r}")
    return value


def _text(steps: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")
