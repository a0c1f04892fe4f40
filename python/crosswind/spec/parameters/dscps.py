"""Which packets a queue of a scheduler takes: DSCPs, or `default`, all that no other queue takes."""

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
        """Return the DSCP that an item of the list is; None where it is none."""
        return sound(read_dscp, raw)

    def sent(self, name: str, value: list[int] | Literal["default"], sending: Sending) -> Parameters:
        """Return the DSCPs; None: all others."""
        return {name: None if value == "default" else list(value)}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: what is wrong lies between the queues."""
        yield from ()
