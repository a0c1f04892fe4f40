"""A command in a file: a line for the shell, or a list of words."""

from __future__ import annotations

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from crosswind.spec.quantities import QuantityError, shown

SHELL = ("/bin/sh", "-c")


def read_command(value: object) -> list[str]:
    """Return the words of a command; a text becomes a line for the shell.

    Raises: QuantityError: it is neither a text nor a list, or empty.
    """
    if isinstance(value, str) and value.strip():
        return [*SHELL, value]
    if isinstance(value, list) and value:
        return [_word(number, word) for number, word in enumerate(value, 1)]
    raise QuantityError(
        f"{shown(value)} is not a command; write a line for the shell, or a list such as [server, --port, 80]"
    )


def _word(number: int, word: object) -> str:
    try:
        return read_text(word)
    except QuantityError as error:
        raise QuantityError(f"word {number}, {error}") from None


def read_text(value: object) -> str:
    """Return a text; a whole number becomes its digits, other values that YAML reads from words are refused.

    Raises: QuantityError: it is neither a text nor a whole number.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or "\0" in value:
        raise QuantityError(f"{shown(value)} is not text; write it in quotes")
    return value


def is_shell_line(command: list[str]) -> bool:
    """Return whether a command was written as a line for the shell."""
    return command[:2] == [*SHELL]


CommandLine = Annotated[
    list[str],
    PlainValidator(read_command),
    WithJsonSchema(
        {
            "description": "A line for /bin/sh, or a list of words that is executed without a shell.",
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1},
            ],
        }
    ),
]
# A value of the environment.
EnvironmentText = Annotated[
    str, PlainValidator(read_text), WithJsonSchema({"type": ["string", "integer"], "description": "A text."})
]
