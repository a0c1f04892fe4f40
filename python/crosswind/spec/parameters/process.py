"""A rate as a function of time: the keys of a capacity (reference: docs/reference/elements.md)."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from crosswind.spec.parameters.process_keys import RateProcess
from crosswind.spec.parameters.process_rules import process_findings
from crosswind.spec.parameters.process_sent import process_of
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding


class ProcessReader:
    """Reads the keys of a capacity that describe how its rate changes."""

    model = RateProcess

    def sent_from(self, name: str, given: RateProcess, sending: Sending) -> Parameters:
        """Return the process that the agent runs."""
        return {name: process_of(given, sending.scale)}

    def spread_findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong between its keys."""
        yield from process_findings(raw)
