"""A recording of losses: a pattern in the condition, or a file of its own."""

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

    Raises: QuantityError: it has other characters, or no received packet.
    """
    if not isinstance(value, str) or not value or set(value) - {"0", "1"}:
        raise QuantityError(
            f'{shown(value)} is not a pattern; write 0 (received) and 1 (lost), such as "0010"'
        )
    if "0" not in value:
        raise QuantityError(f"{shown(value)} loses every packet; write at least one 0")
    return value


Pattern = Annotated[
    str,
    PlainValidator(read_pattern),
    WithJsonSchema({"type": "string", "pattern": "^1*0[01]*$", "examples": ["0010"]}),
]


class Recording(SpecModel):
    """A recording of lost packets, which repeats."""

    pattern: Pattern | None = Field(None, description="One mark for each packet: 0 received, 1 lost.")
    file: Annotated[NamedFile[str] | None, *named_file(parse_losses, "losses.txt")] = Field(
        None, description="A file of such marks; its path is relative to the file that names it."
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> Recording:
        if len(self.model_fields_set & {"pattern", "file"}) != 1:
            raise PydanticCustomError("element", "must have either a pattern or a file")
        return self


class LossesReader:
    """Reads the keys of a recording in the mapping itself: a pattern, or a file."""

    model = Recording

    def sent_from(self, name: str, given: Recording, sending: Sending) -> Parameters:
        """Return the pattern, from the condition or from the file."""
        return {name: given.pattern or (given.file.says if given.file is not None else None) or ""}

    def spread_findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the model checks everything."""
        yield from ()
