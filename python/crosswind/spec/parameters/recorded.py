"""Recordings of a cellular link under light and heavy load, each in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import JsonValue

from crosswind.spec.base import Annotation
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding
from crosswind.spec.trace import OpportunityTrace, parse_opportunities
from crosswind.spec.trains import TrainTrace, parse_size_offsets, parse_trains


class TrainsReader:
    """Reads a file of trains of packets."""

    annotation: Annotation = Annotated[
        NamedFile[TrainTrace], *named_file(parse_trains, "down-delay-light-pdo")
    ]

    def sent(self, name: str, value: NamedFile[TrainTrace], sending: Sending) -> Parameters:
        """Return the trains as the agent takes them."""
        says = value.says
        assert says is not None  # Files are read with the condition.
        trains: list[JsonValue] = [list(train) for train in says.opportunities_ns]
        return {
            name: {"at_ns": list(says.at_ns), "delay_ns": list(says.delay_ns), "opportunities_ns": trains}
        }

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the file was checked when it was read."""
        yield from ()


class OpportunitiesReader:
    """Reads a trace of Mahimahi as delivery opportunities that repeat."""

    annotation: Annotation = Annotated[
        NamedFile[OpportunityTrace], *named_file(parse_opportunities, "down-heavy-pdo")
    ]

    def sent(self, name: str, value: NamedFile[OpportunityTrace], sending: Sending) -> Parameters:
        """Return the opportunities as the agent takes them: those at time 0 are at the end of the period."""
        says = value.says
        assert says is not None  # Files are read with the condition.
        at_ns, count = list(says.at_ns), list(says.count)
        if at_ns[0] == 0:
            count[-1] += count[0]
            del at_ns[0], count[0]
        return {name: {"at_ns": list(at_ns), "count": list(count)}}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the file was checked when it was read."""
        yield from ()


class SizeOffsetsReader:
    """Reads a file of what is added to the delay of packets by their size."""

    annotation: Annotation = Annotated[
        NamedFile[tuple[int, ...]], *named_file(parse_size_offsets, "latency-offset-down")
    ]

    def sent(self, name: str, value: NamedFile[tuple[int, ...]], sending: Sending) -> Parameters:
        """Return the additions as the agent takes them."""
        return {name: list(value.says or ())}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the file was checked when it was read."""
        yield from ()
