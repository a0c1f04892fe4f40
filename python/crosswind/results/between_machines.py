"""What happened to packets between the machines that carry a network, and how well their clocks are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from crosswind.results.measurement import MeasuredMachine, Measurement


@dataclass(frozen=True)
class OneWay:
    """The datagrams from one machine to another, as the other has counted them in the window."""

    source: str
    target: str
    lost: int
    reordered: int
    duplicate: int
    refused: int
    clock_steps: int


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


def void_reasons(measurement: Measurement) -> Iterator[str]:
    """Yield why the network between the machines was not as transparent as it must be.

    Nothing is sent again there, so a lost datagram is a lost packet. One that is overtaken is waited for, and
    so is everything behind it.
    """
    for way in one_ways(measurement):
        between = f"from {way.source} to {way.target}"
        for count, what in ((way.lost, "lost"), (way.reordered, "reordered"), (way.duplicate, "duplicated")):
            if count:
                yield f"{count} datagram{'s' if count > 1 else ''} {between} {what}"
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
