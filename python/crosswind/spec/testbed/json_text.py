"""Read JSON that another tool has printed."""

from __future__ import annotations

import json

from pydantic import JsonValue, ValidationError

from crosswind.spec.text_lines import LineError


def read_json(content: bytes) -> JsonValue:
    """Return the value of a JSON text.

    Raises: LineError: it is none, with the line.
    """
    try:
        value: JsonValue = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LineError(content.count(b"\n", 0, error.start) + 1, "is not UTF-8; save it as UTF-8") from None
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:]
        raise LineError(error.lineno, f"column {error.colno}: is not JSON: {what}") from None
    except (RecursionError, ValueError):
        # A number of thousands of digits is a ValueError.
        raise LineError(
            0, "is not JSON that can be read: it is nested too deeply, or has too long a number"
        ) from None
    return value


def place_of(error: ValidationError, remedy: str) -> str:
    """Return the first error of a model as `items[1].metadata: ...; remedy`."""
    first = error.errors(include_url=False)[0]
    path = ""
    for part in first["loc"]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    what = first["msg"][:1].lower() + first["msg"][1:]
    return f"{path or 'the text'}: {what}; {remedy}"
