"""What a fingerprint records of delays, round trips and TCP transfers."""

from __future__ import annotations

from pydantic import Field

from crosswind.analysis.network.part import FingerprintPart

# By their names, `p0` to `p100`; empty where nothing was measured.
Quantiles = dict[str, float]
Samples = list[int | float]


class DelayPart(FingerprintPart):
    """One-way delay of small packets.

    Attributes:
        each_ns: in the order of arrival; empty where the two ends have no common clock.
        bound_ns: none of them is wrong by more, where two clocks were compared; None on one clock.
    """

    packets: int
    lost: int
    one_way_ns: Quantiles = Field(default_factory=dict)
    each_ns: Samples = Field(default_factory=list)
    bound_ns: int | None = None


class RoundTripsPart(FingerprintPart):
    """Round trips of small messages; `each_ns` holds at most 400 of them, in their order."""

    messages: int | None = None
    failed: int | None = None
    ns: Quantiles = Field(default_factory=dict)
    each_ns: Samples = Field(default_factory=list)


class RoundTripPart(FingerprintPart):
    """Round trips on an idle network, and during a bulk transfer."""

    idle: RoundTripsPart | None = None
    loaded: RoundTripsPart | None = None


class BulkPart(FingerprintPart):
    """A bulk transfer: payload of TCP, over the window that all connections have in common.

    Attributes:
        goodput_bps: of all connections together.
        each_bps: by connection.
        jain: Jain's index of the connections, in (0, 1].
        retransmits: segments; None where the tool does not report them.
        fastest_bps: in the fastest tenth of a second.
        parts_bps: in each tenth of a second.
        rtt_us: smoothed round-trip time of each connection, averaged over the window.
        sender_cpu_s, receiver_cpu_s: CPU time of each connection; of all where the tool has one thread.
        sender_cpu_s_per_gb, receiver_cpu_s_per_gb: for 1e9 bytes of payload.
    """

    tool: str | None = None
    goodput_bps: float
    each_bps: list[float] = Field(default_factory=list)
    jain: float
    retransmits: int | None = None
    fastest_bps: float | None = None
    parts_bps: list[float] = Field(default_factory=list)
    rtt_us: list[int | None] = Field(default_factory=list)
    window_s: float | None = None
    sender_cpu_s: list[float] = Field(default_factory=list)
    receiver_cpu_s: list[float] = Field(default_factory=list)
    sender_cpu_s_per_gb: float | None = None
    receiver_cpu_s_per_gb: float | None = None


class WriteSizePart(FingerprintPart):
    """One size of `write()`: a transfer, and single messages that are answered one after the other."""

    write_bytes: int
    stream: BulkPart
    message_ns: Samples = Field(default_factory=list)


class Spread(FingerprintPart):
    """Median and range over repetitions."""

    median: float
    least: float
    most: float


class CapacityPart(FingerprintPart):
    """Repeated transfers over one number of connections."""

    connections: int
    goodput_bps: Spread
    jain: Spread
    repetitions: list[BulkPart] = Field(min_length=1)


class SentPart(FingerprintPart):
    """Payload that a fingerprint sent, and its limit; None is no limit."""

    sent_bytes: int = Field(alias="bytes")
    most_bytes: int | None = None
