"""Interference of a condition: traffic that competes with the application."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import (
    Dscp,
    Intensity,
    PositiveDuration,
    QuantityError,
    RateOrShare,
    Size,
    shown,
)

_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9]*)-([A-Za-z][A-Za-z0-9]*)")


class Normal(SpecModel):
    """A normal distribution, clipped to low..high."""

    mean: RateOrShare = Field(description="Before clipping.")
    sd: RateOrShare = Field(description="Before clipping.")
    low: RateOrShare = Field(Intensity(share=0.0), description="Smallest draw; 0% when absent.")
    high: RateOrShare = Field(Intensity(share=1.0), description="Largest draw; 100% when absent.")


class NormalLaw(SpecModel):
    """Drawn from a normal distribution every `hold`."""

    normal: Normal


def read_pair(value: object) -> tuple[str, str]:
    """Return the two hosts of a pair, which is written `h0-h1`.

    Raises: QuantityError: it is written otherwise.
    """
    match = _PAIR.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise QuantityError(
            f"{shown(value)} is not a pair of hosts; write two hosts with a hyphen, such as h0-h1"
        )
    return match[1], match[2]


Pair = Annotated[
    tuple[str, str],
    PlainValidator(read_pair),
    WithJsonSchema({"type": "string", "pattern": f"^{_PAIR.pattern}$", "examples": ["h0-h1"]}),
]


class OnOff(SpecModel):
    """Packets at equal gaps during random times, none during others; `rate` is the mean over both."""

    on_ns: PositiveDuration = Field(alias="on", description="Mean length of the times with packets.")
    off_ns: PositiveDuration = Field(alias="off", description="Mean length of the times without.")
    shape: float | None = Field(
        None,
        ge=1.001,
        le=100,
        description="Pareto index of both lengths, to three decimals; exponential when absent.",
    )


class ReplayedCapture(SpecModel):
    """Sizes and gaps of the packets of a capture."""

    file: str = Field(min_length=1, description="pcap or pcapng; relative to the folder of the command.")
    repeat: bool = Field(True, description="Begin again, one mean gap after the last packet.")


class ReplayArrivals(SpecModel):
    """As captured."""

    replay: ReplayedCapture


class OnOffArrivals(SpecModel):
    """On and off in turn."""

    on_off: OnOff


def _law_or_rate(value: object) -> str:
    return "law" if isinstance(value, dict | NormalLaw) else "rate"


def _kind_of_arrivals(value: object) -> str:
    if isinstance(value, ReplayArrivals) or (isinstance(value, dict) and "replay" in value):
        return "replay"
    return "on_off" if isinstance(value, dict | OnOffArrivals) else "word"


def _mix_or_size(value: object) -> str:
    return "mix" if value == "imix" else "size"


class Interference(SpecModel):
    """Competing traffic in both directions between two hosts, from a neighbour of its own on each."""

    between: list[Pair] = Field(min_length=1, description="Pairs of hosts.")
    rate: (
        Annotated[
            Annotated[RateOrShare, Tag("rate")] | Annotated[NormalLaw, Tag("law")],
            Discriminator(_law_or_rate),
        ]
        | None
    ) = Field(
        None,
        description="IP bits per second, a share of the uplink, or a distribution. Only a replay has none.",
    )
    hold_ns: PositiveDuration = Field(
        5_000_000_000, alias="hold", description="How long a draw holds; 5s when absent."
    )
    pacing_ns: PositiveDuration = Field(
        10_000_000,
        alias="pacing",
        description="Time between bursts, with tcp between writes; 10ms when absent.",
    )
    arrivals: Annotated[
        Annotated[Literal["paced", "poisson"], Tag("word")]
        | Annotated[OnOffArrivals, Tag("on_off")]
        | Annotated[ReplayArrivals, Tag("replay")],
        Discriminator(_kind_of_arrivals),
    ] = Field("paced", description="When packets come: in bursts, independently, `on_off`, or a `replay`.")
    packet_ip_bytes: (
        Annotated[
            Annotated[Size, Tag("size")] | Annotated[Literal["imix"], Tag("mix")],
            Discriminator(_mix_or_size),
        ]
        | None
    ) = Field(None, alias="packet_size", description="IP bytes of every packet, or `imix`; absent: the MTU.")
    dscp: Dscp = Field(0, description="Of every packet; 0 when absent.")
    transport: Literal["udp", "tcp"] | None = Field(
        None, description="tcp backs off, udp never; absent: udp for ghost, tcp for iperf3."
    )
    flows: int | None = Field(
        None, ge=1, le=128, description="tcp: connections that share the rate, each way; 1 when absent."
    )
    congestion_control: Literal["cubic", "reno"] | None = Field(
        None, description="tcp by ghost: cubic when absent. iperf3 has the topology's."
    )
    by: Literal["ghost", "iperf3"] = Field(
        "ghost", description="Packets inside the engine, or real processes."
    )
    zero: Literal["silence", "unlimited"] = Field("silence", description="What a draw of zero means.")

    ecn: bool = Field(
        False, description="tcp by ghost: react to marks of queues that mark instead of dropping."
    )

    @property
    def is_tcp(self) -> bool:
        """Whether it backs off as TCP does."""
        return self.transport == "tcp" or (self.transport is None and self.by == "iperf3")
