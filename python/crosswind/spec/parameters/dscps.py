"""Which packets a queue of a scheduler takes: DSCPs, or `default`, all that no other queue takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from crosswind.spec.draft import sound
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import Dscp
from crosswind.spec.setting import Finding


class DscpsReader:
    """Reads a list of DSCPs, or the word."""

    annotation = list[Dscp] | Literal["default"]

    def one(self, raw: Any) -> int | None:
        """Return the DSCP that an item of the list is; None where it is none."""
        value = sound(Dscp, raw)
        return value if isinstance(value, int) else None

    def sent(self, name: str, value: Any, sending: Sending) -> dict[str, Any]:
        """Return the DSCPs; None: all others."""
        return {name: None if value == "default" else list(value)}

    def findings(self, raw: Any, around: Around) -> Iterator[Finding]:
        """Yield nothing: what is wrong lies between the queues."""
        yield from ()
