"""Interference of a resolved condition: traffic of others between two hosts, in both directions."""

from __future__ import annotations

from typing import Literal

from crosswind.spec.resolved.part import ResolvedPart


class ConstantRate(ResolvedPart):
    """IP bits per second, the same all the time."""

    constant_bps: int


class NormalRates(ResolvedPart):
    """A normal distribution, clipped, in IP bits per second."""

    mean_bps: int
    sd_bps: int
    low_bps: int
    high_bps: int


class NormalRate(ResolvedPart):
    """A rate that is drawn repeatedly."""

    normal: NormalRates


class OnOffTimes(ResolvedPart):
    """Mean lengths; `shape_thousandths` is the index of a Pareto distribution, exponential where None."""

    on_ns: int
    off_ns: int
    shape_thousandths: int | None


class SentOnOff(ResolvedPart):
    """Arrivals that pause."""

    on_off: OnOffTimes


class ReplayedPackets(ResolvedPart):
    """Packets of a capture, each `[gap_ns, ip_bytes]`, with the gap to the packet before it."""

    packets: list[list[int]]
    repeat: bool


class SentReplay(ResolvedPart):
    """Arrivals as they were captured."""

    replay: ReplayedPackets


class InterferenceTcp(ResolvedPart):
    """Connections each way that back off as TCP does."""

    flows: int
    congestion_control: str
    ecn: bool = False


class ResolvedInterference(ResolvedPart):
    """Traffic between the neighbours of two hosts.

    Attributes:
        by: `ghost`: the engine makes it; `iperf3`: real processes do.
        rate: None with a replay alone.
        hold_ns: how long a drawn rate holds.
        pacing_ns: time between two bursts.
        packet_ip_bytes: of every packet, or `imix`.
        zero: what a drawn rate of 0 means.
        tcp: None where it never backs off.
    """

    between: list[str]
    by: Literal["ghost", "iperf3"]
    rate: ConstantRate | NormalRate | None
    hold_ns: int
    pacing_ns: int
    arrivals: Literal["paced", "poisson"] | SentOnOff | SentReplay = "paced"
    packet_ip_bytes: int | Literal["imix"]
    dscp: int = 0
    zero: Literal["silence", "unlimited"] = "silence"
    tcp: InterferenceTcp | None = None

    @property
    def is_real(self) -> bool:
        """Whether processes generate it, and not the engine."""
        return self.by == "iperf3"
