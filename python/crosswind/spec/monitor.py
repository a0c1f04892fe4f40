"""Monitors: what is measured at a place, of which packets, and from when on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from crosswind.spec.base import On, SpecModel
from crosswind.spec.quantities import Dscp, PositiveDuration

SHORTEST_WINDOW_NS = 100_000
MATCHES_MAX = 8  # Different matches by headers in a condition: the bits of a packet's labels.

Quantity = Literal[
    "utilisation",
    "packet-rate",
    "packet-size",
    "interarrival",
    "ipg",
    "burst",
    "queue-depth",
    "queue-delay",
    "drops",
    "flow-size",
    "tcp-window",
    "rtt",
    "retransmissions",
    "reordering",
]
PROTOCOL_NUMBERS = {"icmp": 1, "tcp": 6, "udp": 17}  # IANA.
Port = Annotated[int, Field(ge=1, le=65_535)]
QUEUE_QUANTITIES = ("queue-depth", "queue-delay")


class Match(SpecModel):
    """Packets by what they are; what is absent may be anything."""

    kind: Literal["real", "ghost"] | None = Field(
        None, alias="class", description="Of the application, or of interference by ghosts."
    )
    dscp: list[Dscp] | None = Field(None, min_length=1, description="One of these.")
    sender: str | None = Field(None, alias="from", description="The node that sent it.")
    receiver: str | None = Field(None, alias="to", description="The node that it is for.")
    protocol: Literal["tcp", "udp", "icmp"] | None = None
    source_port: Port | None = Field(None, alias="source port", description="Of TCP or UDP.")
    destination_port: Port | None = Field(None, alias="destination port", description="Of TCP or UDP.")

    def header_keys(self) -> frozenset[tuple[str, object]]:
        """Return what needs a packet's headers; ghosts have none and never match it."""
        keys = ("sender", "receiver", "protocol", "source_port", "destination_port")
        return frozenset((key, getattr(self, key)) for key in keys if getattr(self, key) is not None)


def _time_or_packet(value: Any) -> str:
    return "packet" if isinstance(value, dict | Match) else "time"


class Monitor(SpecModel):
    """Looks at the packets that pass; never delays, drops or changes one."""

    what: list[Quantity] = Field(min_length=1, description="What is measured.")
    window_ns: PositiveDuration = Field(
        1_000_000, alias="window", description="Rates are counted in windows of this length; 1ms when absent."
    )
    burst_gap_ns: PositiveDuration = Field(
        100, alias="gap", description="The longest gap inside a burst; 100ns when absent."
    )
    match: Match = Field(Match(), description="Which packets count; all when absent.")
    start: (
        Annotated[
            Annotated[PositiveDuration, Tag("time")] | Annotated[Match, Tag("packet")],
            Discriminator(_time_or_packet),
        ]
        | None
    ) = Field(
        None,
        description="A time from the start of the measurement, or the first packet of a kind; "
        "with the measurement when absent.",
    )
    on: On = None
