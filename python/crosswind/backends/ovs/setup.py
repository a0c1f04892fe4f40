"""What is set in Open vSwitch for a fabric under a condition."""

from __future__ import annotations

from dataclasses import dataclass, field

from crosswind.results.measurement import Decided


@dataclass(frozen=True)
class Bridge:
    """A bridge that stands for a host or a switch."""

    name: str
    of: str


@dataclass(frozen=True)
class Port:
    """A device in a bridge; `number` is its OpenFlow port."""

    device: str
    bridge: str
    number: int


@dataclass(frozen=True)
class Wire:
    """A veth pair between two bridges: both directions of a link."""

    ends: tuple[Port, Port]


@dataclass(frozen=True)
class Queue:
    """A class of HTB behind a port.

    Attributes:
        number: as Open vSwitch counts it; the class is 1:(number + 1), and 0 takes what no other does.
        least_bps, priority: its share of the rate, or its rank.
        limit_bytes: of frames that wait.
        dscps: that it takes; empty: every other.
    """

    number: int
    least_bps: int
    priority: int
    limit_bytes: int
    dscps: tuple[int, ...] = ()


@dataclass(frozen=True)
class PortQueues:
    """The rate of a port, and the queues in front of it."""

    device: str
    rate_bps: int
    queues: tuple[Queue, ...]


@dataclass(frozen=True)
class Policing:
    """What Open vSwitch's ingress policing does at a port."""

    device: str
    kbps: int
    kbit: int


@dataclass(frozen=True)
class Trace:
    """A packet to follow with `ofproto/trace`, and what has to be in the answer."""

    bridge: str
    in_port: int
    to_ip: str
    dscp: int | None
    is_metered: bool


@dataclass
class Settings:
    """What a condition sets in the bridges.

    Attributes:
        meters, flows: by bridge, as `ovs-ofctl` reads them.
    """

    meters: dict[str, list[str]] = field(default_factory=dict)
    flows: dict[str, list[str]] = field(default_factory=dict)
    queues: list[PortQueues] = field(default_factory=list)
    policing: list[Policing] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    decided: list[Decided] = field(default_factory=list)
