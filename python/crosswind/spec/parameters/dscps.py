"""The packets of a scheduler's queue: DSCPs, or `default`, all that no other queue takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue

from crosswind.spec.draft import sound
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import Dscp, read_dscp
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding


class DscpsReader:
    """Reads a list of DSCPs, or the word."""

    annotation = list[Dscp] | Literal["default"]

    def one(self, raw: JsonValue) -> int | None:
        """Return the DSCP of an item; None where it is invalid."""
        return sound(read_dscp, raw)

    def sent(self, name: str, value: list[int] | Literal["default"], sending: Sending) -> Parameters:
        """Return the DSCPs; None: all others."""
        return {name: None if value == "default" else list(value)}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the rule `partition` checks all queues together."""
        yield from ()
