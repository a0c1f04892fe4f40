"""The elements of a condition: what happens to packets at one place (reference: docs/reference)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from crosswind.spec.base import On, SpecModel, keys_of
from crosswind.spec.buffer import BufferOrUnlimited
from crosswind.spec.capacity import Capacity
from crosswind.spec.credit import Credit
from crosswind.spec.delay import Delay
from crosswind.spec.impairment import Corrupt, Duplicate, Reorder
from crosswind.spec.loss import Lose
from crosswind.spec.meter import Srtcm, Trtcm
from crosswind.spec.monitor import Monitor
from crosswind.spec.pace import Pace
from crosswind.spec.quantities import Dscp, Rate, Size
from crosswind.spec.queue import SHARED_MEMORY, Managed, Queue, ScheduledQueue


class Police(SpecModel):
    """Drops what the token bucket has no tokens for; never delays."""

    rate_bps: Rate = Field(alias="rate", description="Refill, IP bits per second.")
    burst_bytes: Size = Field(
        alias="burst", description="Depth of the bucket, IP bytes; at least one packet."
    )
    on: On = None


class Shape(Managed):
    """Delays until the token bucket has tokens; drops what its queue drops."""

    rate_bps: Rate = Field(alias="rate", description="Refill, IP bits per second.")
    burst_bytes: Size = Field(
        alias="burst", description="Depth of the bucket, IP bytes; at least one packet."
    )
    buffer: BufferOrUnlimited = Field(description="What may wait, in IP bytes.")
    on: On = None


class Mark(SpecModel):
    """Rewrites the DSCP."""

    dscp: Dscp
    on: On = None


class Schedule(SpecModel):
    """Replaces the FIFO in front of the uplink (host.egress) or of the downlink (switch.egress)."""

    by: Literal["strict", "wrr", "drr", "stfq"]
    queues: list[ScheduledQueue] = Field(min_length=1, description="Under strict the first is the highest.")
    memory_bytes: Size | None = Field(None, alias="memory", description=SHARED_MEMORY)
    on: On = None


AnyElement = (
    Police
    | Shape
    | Credit
    | Pace
    | Srtcm
    | Trtcm
    | Mark
    | Delay
    | Lose
    | Duplicate
    | Corrupt
    | Reorder
    | Monitor
    | Queue
    | Schedule
    | Capacity
)


class Element(SpecModel):
    """One element: a mapping with one key, the element's name."""

    police: Police | None = None
    shape: Shape | None = None
    credit: Credit | None = None
    pace: Pace | None = None
    srtcm: Srtcm | None = None
    trtcm: Trtcm | None = None
    mark: Mark | None = None
    delay: Delay | None = None
    lose: Lose | None = None
    duplicate: Duplicate | None = None
    corrupt: Corrupt | None = None
    reorder: Reorder | None = None
    monitor: Monitor | None = None
    queue: Queue | None = None
    schedule: Schedule | None = None
    capacity: Capacity | None = None

    @model_validator(mode="after")
    def _has_one_name(self) -> Element:
        if len(self.model_fields_set) != 1 or self._given() is None:
            raise PydanticCustomError(
                "element",
                "must name one element with its parameters: {names}",
                {"names": ", ".join(keys_of(Element))},
            )
        return self

    def _given(self) -> AnyElement | None:
        return (
            self.police
            or self.shape
            or self.credit
            or self.pace
            or self.srtcm
            or self.trtcm
            or self.mark
            or self.delay
            or self.lose
            or self.duplicate
            or self.corrupt
            or self.reorder
            or self.monitor
            or self.queue
            or self.schedule
            or self.capacity
        )

    @property
    def given(self) -> AnyElement:
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
