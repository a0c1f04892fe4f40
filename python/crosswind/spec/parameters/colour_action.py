"""The action of a meter on packets of a colour: let them pass, drop them, or mark them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import JsonValue, PlainValidator, WithJsonSchema

from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import DSCP_NAMES, QuantityError, read_dscp, shown
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding

_WORDS = ("pass", "drop", "remark")


def read_colour_action(value: object) -> str | int:
    """Return `pass`, `drop` or `remark`, or the DSCP that is set, in 0..63."""
    if isinstance(value, str) and value in _WORDS:
        return value
    try:
        return read_dscp(value)
    except QuantityError:
        raise QuantityError(
            f"{shown(value)} is not an action; write `pass`, `drop`, `remark`, or a DSCP such as AF12"
        ) from None


ColourAction = Annotated[
    str | int,
    PlainValidator(read_colour_action),
    WithJsonSchema(
        {
            "description": "Action on packets of a colour.",
            "anyOf": [
                {"enum": [*_WORDS, *DSCP_NAMES]},
                {"type": "integer", "minimum": 0, "maximum": 63},
            ],
            "examples": [*_WORDS, "AF12"],
        }
    ),
]


class ColourActionReader:
    """Reads the action of a meter on packets of a colour."""

    annotation = ColourAction

    def sent(self, name: str, value: str | int, sending: Sending) -> Parameters:
        """Return the word, or the DSCP that is set."""
        return {name: {"dscp": value} if isinstance(value, int) else value}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the annotation checks everything."""
        yield from ()
