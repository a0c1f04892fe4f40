"""What a fabric measured, as a few typed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from crosswind.results import Measurement
from crosswind.results.fidelity import judge
from crosswind.results.measurement import ElementCounts
from crosswind.results.rows import Fidelity


@dataclass(frozen=True)
class ElementReading:
    """What one element of the network did to the packets of the nodes.

    Attributes:
        element: its name, such as `h0/switch.ingress/0:police`.
        place: where it stands, such as `switch.ingress`.
        arrived_packets, departed_packets: wire packets.
        departed_bytes: IP bytes.
        dropped: packets by reason, such as `no-tokens`.
    """

    element: str
    place: str
    arrived_packets: int
    departed_packets: int
    departed_bytes: int
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Reading:
    """The measurement of a network since its window began.

    Attributes:
        started_ns, ended_ns: the window, on CLOCK_MONOTONIC.
        fidelity: whether the emulation can be believed: `faithful`, `degraded` or `void`.
        reason: why it is not faithful; empty when it is.
        packets: wire packets in the ledger.
        missed: packets that left later than the bound of the ledger.
        error_ns: by how much packets were late: `p50`, `p90`, `p99`, `p999`, `max`; None without packets.
        elements: one entry for each element of the condition and each queue of the network.
        retransmissions: TCP segments that nodes sent again.
        measurement: everything that was measured.
    """

    started_ns: int
    ended_ns: int
    fidelity: Fidelity
    reason: str
    packets: int
    missed: int
    error_ns: Mapping[str, int | None]
    elements: tuple[ElementReading, ...]
    retransmissions: int
    measurement: Measurement = field(repr=False)

    @property
    def raw(self) -> Mapping[str, JsonValue]:
        """Everything that was measured, as JSON (docs/reference/contracts.md, section 3)."""
        return self.measurement.model_dump(mode="json", by_alias=True, exclude_unset=True)

    @property
    def duration_s(self) -> float:
        """Length of the window in seconds."""
        return (self.ended_ns - self.started_ns) / 1e9

    @property
    def dropped_packets(self) -> int:
        """Packets that all elements dropped, for any reason."""
        return sum(sum(element.dropped.values()) for element in self.elements)


def reading_of(measurement: Measurement) -> Reading:
    """Return the reading of a measurement."""
    verdict, window, ledger = judge(measurement), measurement.window, measurement.ledger
    return Reading(
        started_ns=window.started_ns,
        ended_ns=window.ended_ns,
        fidelity=verdict.fidelity,
        reason=verdict.reason,
        packets=ledger.packets,
        missed=ledger.missed,
        error_ns=ledger.error_ns,
        elements=tuple(_element(element) for element in measurement.elements),
        retransmissions=measurement.retransmitted,
        measurement=measurement,
    )


def _element(element: ElementCounts) -> ElementReading:
    real = element.real
    return ElementReading(
        element.element,
        element.place,
        real.arrived_packets,
        real.departed_packets,
        real.departed_bytes,
        {reason: dropped.packets for reason, dropped in real.dropped.items()},
    )
