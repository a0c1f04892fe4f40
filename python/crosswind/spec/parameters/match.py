"""A match: the packets that a monitor counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from crosswind.spec.base import SpecModel
from crosswind.spec.draft import value_at
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import Dscp, shown
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding
from crosswind.text.nearest import did_you_mean

PROTOCOL_NUMBERS = {"icmp": 1, "tcp": 6, "udp": 17}  # IANA.
Port = Annotated[int, Field(ge=1, le=65_535)]


class Match(SpecModel):
    """Packets by their properties; an absent key matches all packets."""

    kind: Literal["real", "ghost"] | None = Field(
        None, alias="class", description="Of the application, or of interference by ghosts."
    )
    dscp: list[Dscp] | None = Field(None, min_length=1, description="One of these.")
    sender: str | None = Field(None, alias="from", description="The node that sends it.")
    receiver: str | None = Field(None, alias="to", description="The node that receives it.")
    protocol: Literal["tcp", "udp", "icmp"] | None = None
    source_port: Port | None = Field(None, alias="source port", description="Of TCP or UDP.")
    destination_port: Port | None = Field(None, alias="destination port", description="Of TCP or UDP.")


def sent_match(match: Match) -> Parameters:
    """Return a match as the agent takes it."""
    written = match.model_dump(by_alias=True, exclude_none=True)
    if match.protocol is not None:
        written["protocol"] = PROTOCOL_NUMBERS[match.protocol]
    return {key.replace(" ", "_"): value for key, value in written.items()}


def match_findings(raw: JsonValue, around: Around) -> Iterator[Finding]:
    """Yield nodes of a match that do not exist."""
    nodes = around.setting.nodes
    for end in ("from", "to"):
        name = value_at(raw, end)
        if nodes is not None and isinstance(name, str) and name not in nodes:
            remedy = did_you_mean(name, list(nodes)) or f"nodes are {', '.join(nodes)}"
            yield (end,), f"{shown(name)} is not a node; {remedy}"


class MatchReader:
    """Reads a match."""

    annotation = Match

    def sent(self, name: str, value: Match, sending: Sending) -> Parameters:
        """Return the keys that are given."""
        return {name: sent_match(value)}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nodes that do not exist."""
        yield from match_findings(raw, around)
