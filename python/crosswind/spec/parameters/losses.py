"""A recording of losses: a pattern in the file itself, or a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, JsonValue, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from crosswind.spec.base import SpecModel
from crosswind.spec.measured import parse_losses
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding


def read_pattern(value: object) -> str:
    """Return a pattern of received (`0`) and lost (`1`) packets.

    Raises: QuantityError: something else is in it, or no packet is received.
    """
    if not isinstance(value, str) or not value or set(value) - {"0", "1"}:
        raise QuantityError(
            f'{shown(value)} is not a pattern; write 0 (received) and 1 (lost), such as "0010"'
        )
    if "0" not in value:
        raise QuantityError(f"{shown(value)} loses every packet; a pattern needs at least one 0")
    return value


Pattern = Annotated[
    str,
    PlainValidator(read_pattern),
    WithJsonSchema({"type": "string", "pattern": "^1*0[01]*$", "examples": ["0010"]}),
]


class Recording(SpecModel):
    """A recording of which packets were lost, played again and again."""

    pattern: Pattern | None = Field(None, description="One mark a packet: 0 received, 1 lost.")
    file: Annotated[NamedFile[str] | None, *named_file(parse_losses, "losses.txt")] = Field(
        None, description="A file of such marks; its path counts from the file that names it."
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> Recording:
        if len(self.model_fields_set & {"pattern", "file"}) != 1:
            raise PydanticCustomError("element", "must have either a pattern or a file")
        return self


class LossesReader:
    """Reads a recording that stands in the mapping itself: its pattern, or its file."""

    model = Recording

    def sent_from(self, name: str, given: Recording, sending: Sending) -> Parameters:
        """Return the pattern, wherever it was written."""
        return {name: given.pattern or (given.file.says if given.file is not None else None) or ""}

    def spread_findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the model says all."""
        yield from ()
