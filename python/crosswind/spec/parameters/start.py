"""The start of a monitor: a time, or the first packet that matches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Discriminator, JsonValue, Tag

from crosswind.spec.draft import sound
from crosswind.spec.parameters.match import Match, match_findings, sent_match
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import TIME, PositiveDuration
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding


def _time_or_packet(value: object) -> str:
    return "packet" if isinstance(value, dict | Match) else "time"


class StartReader:
    """Reads a start; where absent, it is that of the measurement."""

    annotation = (
        Annotated[
            Annotated[PositiveDuration, Tag("time")] | Annotated[Match, Tag("packet")],
            Discriminator(_time_or_packet),
        ]
        | None
    )

    def sent(self, name: str, value: int | Match | None, sending: Sending) -> Parameters:
        """Return the time after the start of the measurement, or the packet."""
        return {name: {"packet": sent_match(value)} if isinstance(value, Match) else {"after_ns": value or 0}}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield a start after the end, and nodes that do not exist."""
        start_ns, measured_ns = sound(TIME.read_positive, raw), around.setting.tested.measured_ns
        if start_ns is not None and measured_ns is not None and start_ns >= measured_ns:
            measured_s = measured_ns / 1e9
            yield (), f"would never happen: a trial is measured for {measured_s:g}s; start earlier"
        yield from match_findings(raw, around)
