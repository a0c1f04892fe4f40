"""What happened to packets between the machines that carry a network, and how well their clocks are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crosswind.results.measurement import MeasuredMachine, Measurement


@dataclass(frozen=True)
class OneWay:
    """The datagrams from one machine to another, as the other has counted them in the window.

    Attributes:
        reordered: came after a later one, and were put back in order.
        duplicate: came again, and were left out.
    """

    source: str
    target: str
    lost: int
    reordered: int
    duplicate: int
    refused: int
    clock_steps: int


@dataclass(frozen=True)
class TrialMachine:
    """A machine in one trial.

    Attributes:
        clock_bound_ns: an instant of it is not wrong by more than this on the first machine's clock.
        skew_ppb: by how much its clock runs faster than the first one's.
        began_ns: start of its window after that of the first; wrong by `clock_bound_ns` at most.
        late_ns: P99 of how late packets left, or came from another machine; likewise.
        lost, reordered, duplicate, forged: datagrams that were to arrive there.
        network: what carried them: `udp` or `native`.
    """

    name: str
    clock_bound_ns: int
    skew_ppb: int
    began_ns: int
    late_ns: int | None
    lost: int
    reordered: int
    duplicate: int
    forged: int
    network: str = "udp"


def one_ways(measurement: Measurement) -> list[OneWay]:
    """Return both directions between every two machines; none for one machine."""
    machines = measurement.machines
    return [
        OneWay(
            source=source,
            target=machine.machine,
            lost=peer.lost_datagrams,
            reordered=peer.reordered_datagrams,
            duplicate=peer.duplicate_datagrams,
            refused=peer.refused_records,
            clock_steps=peer.clock_steps,
        )
        for machine in machines
        for source, peer in machine.peers(machines)
    ]


def machines_of(measurement: Measurement | None) -> list[TrialMachine]:
    """Return the machines of a trial in order; none for one machine."""
    if measurement is None:
        return []
    ways = one_ways(measurement)
    return [
        TrialMachine(
            name=machine.machine,
            clock_bound_ns=machine.clock.bound_ns,
            skew_ppb=machine.clock.skew_ppb,
            began_ns=machine.started_ns - measurement.window.started_ns,
            late_ns=machine.ledger.error_ns.get("p99"),
            lost=sum(way.lost for way in ways if way.target == machine.machine),
            reordered=sum(way.reordered for way in ways if way.target == machine.machine),
            duplicate=sum(way.duplicate for way in ways if way.target == machine.machine),
            forged=machine.tunnel.forged_datagrams,
            network=machine.tunnel.network,
        )
        for machine in measurement.machines
    ]


def void_reasons(measurement: Measurement) -> Iterator[str]:
    """Yield why the network between the machines was not as transparent as it must be.

    Nothing is sent again there, so a lost datagram is a lost packet. One that is overtaken is put back in
    order, and one that comes again is left out; a packet that was late because of that is in the ledger.
    """
    for way in one_ways(measurement):
        between = f"from {way.source} to {way.target}"
        if way.lost:
            yield f"{way.lost} datagram{'s' if way.lost > 1 else ''} {between} lost"
        if way.refused:
            yield f"{way.refused} records {between} could not be read"
        if way.clock_steps:
            yield f"the clock of {way.source} was set, as {way.target} saw it"
    for machine in measurement.machines:
        if machine.tunnel.dropped_here:
            yield (
                f"{machine.tunnel.dropped_here} datagrams had no room in the socket of {machine.machine} "
                f"({machine.tunnel.receive_buffer_bytes} bytes)"
            )


def clock_bound_ns(measurement: Measurement) -> int:
    """Return by how much an instant of one machine may be wrong on the clock of another; 0 for one machine.

    It is the sum for the two that are known least: each is compared with the first.
    """
    bounds = sorted(machine.clock.bound_ns for machine in measurement.machines)
    return sum(bounds[-2:])


def most(measurement: Measurement, of: Callable[[MeasuredMachine], float]) -> str:
    """Return ` on NAME` for the machine with the most of something, or nothing for one machine."""
    machines = measurement.machines
    return f" on {max(machines, key=of).machine}" if machines else ""
