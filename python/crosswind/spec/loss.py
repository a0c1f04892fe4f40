"""Loss as on a lossy line, and its laws (reference: docs/reference/elements.md)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from crosswind.spec.base import On, SpecModel
from crosswind.spec.measured import parse_losses
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.quantities import PartsPerBillion, PositivePartsPerBillion, QuantityError, shown

_WHOLE_PPB = 10**9


class GilbertElliott(SpecModel):
    """A chain of a good and a bad state, one step a packet."""

    p_ppb: PartsPerBillion = Field(alias="p", description="From good to bad.")
    r_ppb: PartsPerBillion = Field(alias="r", description="From bad to good.")
    h_ppb: PartsPerBillion = Field(
        0, alias="h", description="Received in the bad state; 0% when absent: all are lost."
    )
    k_ppb: PartsPerBillion = Field(
        _WHOLE_PPB, alias="k", description="Received in the good state; 100% when absent: none is lost."
    )


class FourState(SpecModel):
    """A chain of four states: received in a gap (1) or burst (2), lost in a burst (3) or in a gap (4)."""

    p13_ppb: PartsPerBillion = Field(alias="p13", description="From 1 to 3: a burst begins.")
    p31_ppb: PartsPerBillion = Field(alias="p31", description="From 3 to 1: a burst ends.")
    p32_ppb: PartsPerBillion = Field(0, alias="p32", description="From 3 to 2; 0% when absent.")
    p23_ppb: PartsPerBillion = Field(_WHOLE_PPB, alias="p23", description="From 2 to 3; 100% when absent.")
    p14_ppb: PartsPerBillion = Field(
        0, alias="p14", description="From 1 to 4, a single loss; 0% when absent."
    )

    @model_validator(mode="after")
    def _steps_are_at_most_certain(self) -> FourState:
        for state, sum_ppb in ((1, self.p13_ppb + self.p14_ppb), (3, self.p31_ppb + self.p32_ppb)):
            if sum_ppb > _WHOLE_PPB:
                raise PydanticCustomError(
                    "element",
                    "leaves state {state} with {sum}% together; give its two steps at most 100%",
                    {"state": state, "sum": f"{sum_ppb / 1e7:g}"},
                )
        return self


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


class LossTrace(SpecModel):
    """A recording of which packets were lost, played again and again."""

    pattern: Pattern | None = Field(None, description="One mark a packet: 0 received, 1 lost.")
    file: Annotated[NamedFile[str] | None, *named_file(parse_losses, "losses.txt")] = Field(
        None, description="A file of such marks; its path counts from the file that names it."
    )

    @model_validator(mode="after")
    def _has_one_source(self) -> LossTrace:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("element", "must have either a pattern or a file")
        return self

    def marks(self) -> str:
        """Return the pattern, wherever it was written."""
        return self.pattern or (self.file.says if self.file is not None else None) or ""


class Lose(SpecModel):
    """Loses packets as a lossy line does: one law."""

    bernoulli_ppb: PositivePartsPerBillion | None = Field(
        None, alias="bernoulli", description="Each packet with this probability, whatever became of others."
    )
    gilbert_elliott: GilbertElliott | None = Field(None, description="In bursts, by two states.")
    four_state: FourState | None = Field(None, description="In bursts with gaps, by four states.")
    trace: LossTrace | None = Field(None, description="As recorded.")
    on: On = None

    @model_validator(mode="after")
    def _has_one_law(self) -> Lose:
        if len(self._laws()) != 1:
            raise PydanticCustomError(
                "element", "must have one law: bernoulli, gilbert_elliott, four_state or trace"
            )
        return self

    def _laws(self) -> dict[str, dict[str, Any]]:
        laws: dict[str, dict[str, Any]] = {}
        if self.bernoulli_ppb is not None:
            laws["bernoulli"] = {"share_ppb": self.bernoulli_ppb}
        for name in ("gilbert_elliott", "four_state"):
            law = getattr(self, name)
            if law is not None:
                laws[name] = law.model_dump()
        if self.trace is not None:
            laws["trace"] = {"pattern": self.trace.marks()}
        return laws

    @property
    def files(self) -> list[NamedFile[Any]]:
        """The files it names."""
        return [self.trace.file] if self.trace is not None and self.trace.file is not None else []

    def law(self) -> dict[str, dict[str, Any]]:
        """Return the law as the agent reads it: its name and parameters."""
        return self._laws()
