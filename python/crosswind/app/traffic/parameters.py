"""The parameters of traffic, as the experiment file has them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crosswind.app.traffic.law import SizeLaw
from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import Duration, OperationRate, PositiveDuration, Size

NS_PER_S = 1_000_000_000


class TrafficParameters(SpecModel):
    """Which nodes send what to which, how often and for how long."""

    pattern: Literal["pairs", "one-to-many", "many-to-one", "many-to-many", "ring"] = Field(
        "pairs", description="Which nodes send to which, in the topology's order; pairs when absent."
    )
    exchange: Literal["bulk", "request-response", "ping-pong"] = Field(
        "bulk",
        description="bulk: one way, a continuous stream or, with a `message`, transfers of that size; "
        "request-response: messages of `message`, answers of `response`; ping-pong: answers of the size of "
        "the message. bulk when absent.",
    )
    connections: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="Connections from each sender to each of its receivers; 1 when absent."
    )
    message: SizeLaw | None = Field(
        None,
        description="Length of each message: a size such as 1MB, web-search, or a distribution: "
        "{uniform: {least, most}}, {exponential: {mean}}, {pareto: {mean, shape}}.",
    )
    response: SizeLaw | None = Field(
        None, description="Length of each answer of request-response, written like `message`."
    )
    rate: OperationRate | None = Field(
        None, description="Messages per second of all connections (an open loop); a closed loop when absent."
    )
    count: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Messages of each connection, in place of a `duration`."
    )
    duration_ns: PositiveDuration | None = Field(
        None, alias="duration", description="Length of the measured phase; without a `count`."
    )
    warm_up_ns: Duration = Field(
        NS_PER_S, alias="warm_up", description="Before the measured phase; 1s when absent. 0s with a `count`."
    )
    write_bytes: Annotated[Size, Field(le=16 << 20)] = Field(
        128 << 10,
        alias="write",
        description="Size of a write of bulk without a `message`; 128KiB when absent.",
    )
    part_ns: PositiveDuration = Field(
        NS_PER_S // 10,
        alias="part",
        description="Resolution in time of the bytes recorded for each connection; 100ms when absent.",
    )
    congestion_control: list[Annotated[str, Field(pattern="^[a-z0-9_]+$")]] | None = Field(
        None, min_length=1, description="Assigned to connections in turn; the topology's when absent."
    )

    @model_validator(mode="after")
    def _is_possible(self) -> "TrafficParameters":
        if (self.count is None) == (self.duration_ns is None):
            raise ValueError("needs exactly one of `count` and `duration`; write duration: 5s, or count: 10")
        if self.exchange == "bulk" and self.message is None:
            for key, value in (("count", self.count), ("rate", self.rate)):
                if value is not None:
                    raise ValueError(
                        f"has a `{key}` of messages but no `message`; add one, such as message: 1MB"
                    )
        if self.exchange != "bulk" and self.message is None:
            raise ValueError(f"has no `message`, which {self.exchange} needs; add one, such as message: 1kB")
        if (self.exchange == "request-response") != (self.response is not None):
            raise ValueError(
                "needs a `response` only with exchange: request-response; add response: 1kB, or leave it out"
            )
        if self.count is not None and self.warm_up_ns:
            # Every connection sends its messages once, so all of them must be measured.
            raise ValueError("has a `count` and a warm-up, but all messages are measured; write warm_up: 0s")
        return self

    @property
    def has_messages(self) -> bool:
        """Whether there are single messages, all of which are recorded."""
        return self.message is not None
