"""The result of a run in virtual time, as `replay` and `offer` print it (contracts.md, section 7)."""

from __future__ import annotations

from pydantic import Field

from crosswind.simulation.answer import DelayQuantiles, SimulatorAnswer


class PacketCount(SimulatorAnswer):
    """A number of packets and their IP bytes."""

    packets: int
    bytes: int


class PairTraffic(SimulatorAnswer):
    """The traffic from one node to another.

    Attributes:
        offered: what entered, at its node or from another machine.
        crossed: what left for another machine, where several carried the network.
        dropped: by element and reason, such as `h0/switch.ingress/0:police no-tokens`.
        delay_ns: of the packets that left; None where none did.
    """

    sender: str = Field(alias="from")
    receiver: str = Field(alias="to")
    offered: PacketCount
    delivered: PacketCount
    duplicated: PacketCount
    crossed: PacketCount
    dropped: dict[str, PacketCount]
    delay_ns: DelayQuantiles | None

    @property
    def dropped_packets(self) -> int:
        """Packets that any element dropped."""
        return sum(dropped.packets for dropped in self.dropped.values())


class ClassCounts(SimulatorAnswer):
    """Packets of one class at one element; `dropped` is by reason."""

    arrived: PacketCount
    departed: PacketCount
    dropped: dict[str, PacketCount]


class ElementTraffic(SimulatorAnswer):
    """What one element did to packets of the application and of interference."""

    element: str
    real: ClassCounts
    ghost: ClassCounts


class VirtualRun(SimulatorAnswer):
    """A run in virtual time: by pair of nodes, and by element.

    Attributes:
        condition: the name of the condition that is active at the end.
    """

    condition: str
    duration_ns: int
    pairs: list[PairTraffic]
    elements: list[ElementTraffic]


class Agreement(SimulatorAnswer):
    """The decisions of a replay, compared with those of the live run.

    Attributes:
        different: decisions that differ, or that only one of the two made.
        first_difference: the first of them, in words; None where there is none.
    """

    identical: bool
    decisions: int
    different: int
    first_difference: str | None


class Replayed(SimulatorAnswer):
    """The result of a replay.

    Attributes:
        recorded_by: the version of Crosswind that recorded.
        comparison: None where the packets met another condition.
    """

    recorded_by: str
    comparison: Agreement | None
    summary: VirtualRun
