"""The elements of a condition: what happens to packets at one place (reference: docs/reference)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from crosswind.spec.base import SpecModel, keys_of
from crosswind.spec.quantities import Dscp, PositiveDuration, Rate, Size, SizeOrUnlimited

On = Annotated[
    list[str] | None,
    Field(
        min_length=1, description="Only these: nodes or hosts at host.*, hosts elsewhere. Absent: everywhere."
    ),
]


class Police(SpecModel):
    """Drops what the token bucket has no tokens for; never delays."""

    rate_bps: Rate = Field(alias="rate", description="Refill, IP bits per second.")
    burst_bytes: Size = Field(
        alias="burst", description="Depth of the bucket, IP bytes; at least one packet."
    )
    on: On = None


class Shape(SpecModel):
    """Delays until the token bucket has tokens; drops what the buffer cannot hold."""

    rate_bps: Rate = Field(alias="rate", description="Refill, IP bits per second.")
    burst_bytes: Size = Field(
        alias="burst", description="Depth of the bucket, IP bytes; at least one packet."
    )
    buffer_bytes: SizeOrUnlimited = Field(alias="buffer", description="What may wait, in IP bytes.")
    on: On = None


class Mark(SpecModel):
    """Rewrites the DSCP."""

    dscp: Dscp
    on: On = None


class Delay(SpecModel):
    """Adds a constant delay."""

    time_ns: PositiveDuration = Field(alias="time")
    on: On = None


class Queue(SpecModel):
    """One queue of a scheduler."""

    dscp: list[Dscp] | Literal["default"] = Field(
        description="What it takes; exactly one queue takes `default`."
    )
    weight: int | None = Field(
        None, ge=1, le=1_000_000, description="wrr: packets a round; drr: share of bytes; none for strict."
    )
    buffer_bytes: Size | None = Field(
        None, alias="buffer", description="Wire bytes; absent: the uplink's buffer."
    )


class Schedule(SpecModel):
    """Replaces the FIFO in front of the uplink (host.egress) or of the downlink (switch.egress)."""

    by: Literal["strict", "wrr", "drr"]
    queues: list[Queue] = Field(min_length=1, description="Under strict the first is the highest.")
    on: On = None


class Element(SpecModel):
    """One element: a mapping with one key, the element's name."""

    police: Police | None = None
    shape: Shape | None = None
    mark: Mark | None = None
    delay: Delay | None = None
    schedule: Schedule | None = None

    @model_validator(mode="after")
    def _has_one_name(self) -> Element:
        if len(self.model_fields_set) != 1 or self._given() is None:
            raise PydanticCustomError(
                "element",
                "must name one element with its parameters: {names}",
                {"names": ", ".join(keys_of(Element))},
            )
        return self

    def _given(self) -> Police | Shape | Mark | Delay | Schedule | None:
        return self.police or self.shape or self.mark or self.delay or self.schedule

    @property
    def given(self) -> Police | Shape | Mark | Delay | Schedule:
        """The one element that is set."""
        given = self._given()
        assert given is not None  # Checked when the element was read.
        return given

    @property
    def word(self) -> str:
        """The element's name in files."""
        return next(iter(self.model_fields_set))

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema: dict[str, Any] = handler.resolve_ref_schema(handler(core))
        schema.update(minProperties=1, maxProperties=1)
        for choice in schema["properties"].values():
            # `police: null` is as wrong as no element, so editors are not offered it.
            reference = next(option for option in choice.pop("anyOf") if "$ref" in option)
            choice.update(reference)
            choice.pop("default", None)
        return schema
