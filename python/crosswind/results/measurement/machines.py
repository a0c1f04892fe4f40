"""Machines that carry a network together: what each reports besides its measurement, and what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from crosswind.results.measurement.clock import ClockEstimate, ClockLine
from crosswind.results.measurement.emulation import EmulatorHost, Ledger
from crosswind.results.part import StoredPart


class Peer(StoredPart):
    """Datagrams between a machine and another one, counted in the window.

    Attributes:
        domain: number of the other machine.
        refused_records: that were malformed, or named what had not been announced.
        clock_steps: how often the other clock was set in the window.
    """

    domain: int
    sent_datagrams: int = 0
    received_datagrams: int = 0
    lost_datagrams: int = 0
    reordered_datagrams: int = 0
    duplicate_datagrams: int = 0
    refused_records: int = 0
    clock_steps: int = 0
    clock: ClockEstimate = ClockEstimate()


class Tunnel(StoredPart):
    """What one machine exchanged with the others.

    Attributes:
        domain: number of the machine.
        network: what carried the datagrams.
        forged_datagrams: that no machine of the run has made.
        unsent: calls in which the kernel took no datagram.
        dropped_here: that had no room in the socket's buffer of `receive_buffer_bytes`.
    """

    domain: int = 0
    network: Literal["udp", "native"] = "udp"
    forged_datagrams: int = 0
    unsent: int = 0
    dropped_here: int = 0
    receive_buffer_bytes: int = 0
    peers: list[Peer] = Field(default_factory=list)


class Balance(StoredPart):
    """Packets that left for other machines minus those that came from them; by class."""

    real: int = 0
    ghost: int = 0


class UnderWay(StoredPart):
    """The balance of a machine when the window started, and now."""

    before: Balance = Balance()
    now: Balance = Balance()


class MachinePart(StoredPart):
    """What an agent reports that carries a part of a network."""

    tunnel: Tunnel
    under_way: UnderWay = UnderWay()


class MeasuredMachine(StoredPart):
    """One of the machines of a measurement; everything is on the clock of the first one.

    Attributes:
        started_ns: when its window began.
        clock: its clock against that of the first.
    """

    machine: str
    started_ns: int
    clock: ClockLine
    ledger: Ledger
    host: EmulatorHost
    tunnel: Tunnel

    def peers(self, machines: list[MeasuredMachine]) -> Iterator[tuple[str, Peer]]:
        """Yield the other machines with their names."""
        names = {machine.tunnel.domain: machine.machine for machine in machines}
        for peer in self.tunnel.peers:
            yield names.get(peer.domain, f"machine {peer.domain}"), peer
