"""A condition: treatments by place, interference, and what changes over time."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from crosswind.spec.base import SpecModel
from crosswind.spec.element import Element
from crosswind.spec.quantities import Intensity, PositiveDuration, QuantityError, RateOrShare, shown

PLACES = (
    "host.egress",
    "link",
    "switch.ingress",
    "switch.egress",
    "host.ingress",
)  # In the order packets pass.

_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9]*)-([A-Za-z][A-Za-z0-9]*)")


class Places(SpecModel):
    """Elements by place, in the order they apply."""

    host_egress: list[Element] | None = Field(None, alias="host.egress", description="What a node sends.")
    link: list[Element] | None = Field(None, description="In front of the wire, each way.")
    switch_ingress: list[Element] | None = Field(None, alias="switch.ingress", description="Up from a host.")
    switch_egress: list[Element] | None = Field(None, alias="switch.egress", description="Down to a host.")
    host_ingress: list[Element] | None = Field(
        None, alias="host.ingress", description="What a node receives."
    )

    def by_place(self) -> dict[str, list[Element]]:
        """Return the places that are given, in the order packets pass them."""
        given = {field.alias or name: getattr(self, name) for name, field in Places.model_fields.items()}
        return {place: given[place] for place in PLACES if given[place] is not None}


class Normal(SpecModel):
    """A normal law, clipped to low..high."""

    mean: RateOrShare = Field(description="Before clipping.")
    sd: RateOrShare = Field(description="Before clipping.")
    low: RateOrShare = Field(Intensity(share=0.0), description="Smallest draw; 0% when absent.")
    high: RateOrShare = Field(Intensity(share=1.0), description="Largest draw; 100% when absent.")


class NormalLaw(SpecModel):
    """Redrawn from a normal law every `hold`."""

    normal: Normal


def _pair(value: object) -> tuple[str, str]:
    match = _PAIR.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise QuantityError(
            f"{shown(value)} is not a pair of hosts; write two hosts with a hyphen, such as h0-h1"
        )
    return match[1], match[2]


Pair = Annotated[
    tuple[str, str],
    PlainValidator(_pair),
    WithJsonSchema({"type": "string", "pattern": f"^{_PAIR.pattern}$", "examples": ["h0-h1"]}),
]


def _law_or_rate(value: Any) -> str:
    return "law" if isinstance(value, dict | NormalLaw) else "rate"


class Interference(SpecModel):
    """Competing traffic in both directions between two hosts, from a neighbour of its own on each."""

    between: list[Pair] = Field(min_length=1, description="Pairs of hosts.")
    rate: Annotated[
        Annotated[RateOrShare, Tag("rate")] | Annotated[NormalLaw, Tag("law")], Discriminator(_law_or_rate)
    ] = Field(description="IP bits per second, a share of the uplink, or a law.")
    hold_ns: PositiveDuration = Field(
        5_000_000_000, alias="hold", description="How long a draw holds; 5s when absent."
    )
    pacing_ns: PositiveDuration = Field(
        10_000_000, alias="pacing", description="From burst to burst; 10ms when absent."
    )
    by: Literal["ghost", "iperf3"] = Field(
        "ghost", description="Packets inside the engine, or real processes."
    )
    zero: Literal["silence", "unlimited"] = Field("silence", description="What a draw of zero means.")


def _one_or_many(value: Any) -> str:
    return "many" if isinstance(value, list) else "one"


class Condition(Places):
    """Treatments by place, plus interference, plus a timeline. Empty: nothing is done to packets."""

    summary: str = Field("", description="One line: what it models.")
    interference: (
        Annotated[
            Annotated[Interference, Tag("one")] | Annotated[list[Interference], Tag("many")],
            Discriminator(_one_or_many),
        ]
        | None
    ) = Field(None, description="Competing traffic.")
    at: dict[PositiveDuration, Places] | None = Field(
        None,
        description="Later changes, by time from the start of the measurement; other places stay.",
    )

    def interferences(self) -> list[Interference]:
        """Return the interference as a list, whichever way it was written."""
        if self.interference is None:
            return []
        return self.interference if isinstance(self.interference, list) else [self.interference]
