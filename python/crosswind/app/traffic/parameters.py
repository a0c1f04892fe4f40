"""What traffic may be asked for, in the words of the experiment file."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crosswind.app.traffic.law import SizeLaw
from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import Duration, OperationRate, PositiveDuration, Size

NS_PER_S = 1_000_000_000


class TrafficParameters(SpecModel):
    """Who sends what to whom, how often and for how long."""

    pattern: Literal["pairs", "one-to-many", "many-to-one", "many-to-many", "ring"] = Field(
        "pairs", description="Who sends to whom, in the order of the topology's nodes; pairs when absent."
    )
    exchange: Literal["bulk", "request-response", "ping-pong"] = Field(
        "bulk",
        description="bulk: one way, without end or, with a `message`, as transfers; request-response: "
        "messages of `message`, answers of `response`; ping-pong: answers as long as the message. "
        "bulk when absent.",
    )
    connections: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="Connections from each sender to each of its receivers; 1 when absent."
    )
    message: SizeLaw | None = Field(
        None,
        description="Length of each message: a size such as 1MB, web-search, or a law: "
        "{uniform: {least, most}}, {exponential: {mean}}, {pareto: {mean, shape}}.",
    )
    response: SizeLaw | None = Field(
        None, description="Length of each answer of request-response; as `message`."
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
        description="How finely each connection's bytes are kept over time; 100ms when absent.",
    )
    congestion_control: list[Annotated[str, Field(pattern="^[a-z0-9_]+$")]] | None = Field(
        None, min_length=1, description="Given to the connections in turn; the topology's when absent."
    )

    @model_validator(mode="after")
    def _is_possible(self) -> "TrafficParameters":
        if (self.count is None) == (self.duration_ns is None):
            raise ValueError("ends with one of `count` and `duration`; write duration: 5s, or count: 10")
        if self.exchange == "bulk" and self.message is None:
            for key, value in (("count", self.count), ("rate", self.rate)):
                if value is not None:
                    raise ValueError(
                        f"has a {key} of messages without a `message`; add one, such as message: 1MB"
                    )
        if self.exchange != "bulk" and self.message is None:
            raise ValueError(
                f"has no `message` of the messages of {self.exchange}; add one, such as message: 1kB"
            )
        if (self.exchange == "request-response") != (self.response is not None):
            raise ValueError(
                "has a `response` exactly with exchange: request-response; add response: 1kB, or leave it out"
            )
        if self.count is not None and self.warm_up_ns:
            # What every connection has to move is moved once: none of it may go by unmeasured.
            raise ValueError("has a `count`, of which none may be warm-up; write warm_up: 0s")
        return self

    @property
    def has_messages(self) -> bool:
        """Whether there are single messages, all of which are kept."""
        return self.message is not None
