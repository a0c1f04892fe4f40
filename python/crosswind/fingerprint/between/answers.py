"""What `crosswind-agent between` answers (docs/reference/contracts.md, section 2).

A machine may be somebody else's, so numbers have the ranges that they can have.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field

from crosswind.results.measurement.clock import ClockComparison, ClockEstimate
from crosswind.testbed.replies import Reply

# Instants, bytes, counts: what 63 bits hold.
Whole = Annotated[int, Field(ge=0, le=2**63 - 1)]
Signed = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
ProbeRow = Annotated[list[Whole], Field(min_length=3, max_length=3)]
_PORT = re.compile(r":([0-9]{1,5})$")


class SocketsOpened(Reply):
    """The sockets of a meeting are open at these addresses, as IP:PORT."""

    datagrams: str = Field(pattern=_PORT)
    connections: str = Field(pattern=_PORT)

    def at(self, address: str) -> tuple[str, str]:
        """Return both with an address that is known: a machine does not name one for others to send to."""
        host = f"[{address}]" if ":" in address else address
        return (
            f"{host}:{self.datagrams.rpartition(':')[2]}",
            f"{host}:{self.connections.rpartition(':')[2]}",
        )


class ClockLook(ClockEstimate):
    """The other machine's clock as it was known at `now_ns`."""

    now_ns: Whole
    offset_ns: Signed | None = None
    bound_ns: Whole | None = None

    def comparison(self) -> ClockComparison | None:
        """Return both clocks at that instant; None before there was an estimate."""
        if self.offset_ns is None or self.bound_ns is None:
            return None
        return ClockComparison(self.now_ns, self.now_ns + self.offset_ns, self.bound_ns)


class WallReading(Reply):
    """A machine's wall clock at `now_ns`; `error_ns` is None where nothing synchronises it."""

    now_ns: Whole
    wall_ns: Signed
    error_ns: Whole | None = None


class DatagramsExchanged(Reply):
    """What one end knows after an exchange of datagrams; instants are of its own clock.

    Attributes:
        sent: own probes.
        latest_ns: by how much the latest of them left too late.
        arrived: the other end's probes in the order of arrival: number, sent (on the other clock), came.
        answered: own probes that were answered: number, sent, answer came.
        forged: datagrams that the other end had not made.
    """

    sent: Whole
    latest_ns: Whole
    arrived: list[ProbeRow]
    answered: list[ProbeRow]
    clocks: list[ClockLook]
    wall: WallReading
    forged: Whole


class ConnectionReceived(Reply):
    """What one connection has brought: bytes in each part since the first byte."""

    series: list[Whole]
    total_bytes: Whole
    cpu_ns: Whole


class BulkReceived(Reply):
    """What a transfer has brought."""

    connections: list[ConnectionReceived] = Field(min_length=1)


class ConnectionSent(Reply):
    """One connection at its sender, at its end."""

    retransmits: Whole
    rtt_us: Whole
    mss_bytes: Annotated[int, Field(ge=1, le=1 << 20)]
    cpu_ns: Whole


class BulkSent(Reply):
    """A transfer at its sender."""

    connections: list[ConnectionSent] = Field(min_length=1)
