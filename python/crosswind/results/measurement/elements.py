"""What elements of the network did to packets."""

from __future__ import annotations

from pydantic import Field

from crosswind.results.part import StoredPart


class Amount(StoredPart):
    """Wire packets and their IP bytes."""

    packets: int = 0
    bytes: int = 0


class PacketCounts(StoredPart):
    """What an element did to packets of one class; `dropped` is by reason."""

    arrived_packets: int = 0
    arrived_bytes: int = 0
    departed_packets: int = 0
    departed_bytes: int = 0
    marked_packets: int = 0
    duplicated: Amount = Amount()
    corrupted: Amount = Amount()
    dropped: dict[str, Amount] = Field(default_factory=dict)


class BucketContent(StoredPart):
    """The content of a credit bucket.

    Attributes:
        first_bits: when its condition was applied.
        left_bits: at the end of the window.
    """

    budget_bits: int
    refill_bps: int
    first_bits: int
    left_bits: int


class ElementCounts(StoredPart):
    """The counters of an element.

    Attributes:
        element: its name, such as `h0/switch.ingress/0:police`.
        of: the node, host or link at whose `place` it stands.
        ghost: packets that the engine made.
        credit: None where it is no credit bucket.
    """

    element: str
    place: str = ""
    of: str = ""
    real: PacketCounts = PacketCounts()
    ghost: PacketCounts = PacketCounts()
    credit: BucketContent | None = None
