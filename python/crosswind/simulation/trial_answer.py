"""What `crosswind-simulate trials` measured in a trial (contracts.md, section 7)."""

from __future__ import annotations

from pydantic import Field

from crosswind.simulation.answer import SimulatorAnswer


class CallQuantiles(SimulatorAnswer):
    """Quantiles of times in ns, interpolated as those of live trials are."""

    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    max: float
    mean: float


class MeasuredCalls(SimulatorAnswer):
    """Calls of the measured phase.

    Attributes:
        timeouts: calls that took longer than the least timeout of TCP and the fastest call together.
        not_started: calls that were due and never started.
    """

    operations: int
    per_s: float
    latency_ns: CallQuantiles | None
    response_ns: CallQuantiles | None
    timeouts: int
    not_started: int


class MeasuredStream(SimulatorAnswer):
    """One connection in the measured window.

    Attributes:
        retransmits: of its whole life.
        rtt_us: smoothed round trip, averaged over the window; None where none was measured.
    """

    sender: str = Field(alias="from")
    receiver: str = Field(alias="to")
    bytes: int
    retransmits: int
    rtt_us: int | None


class TcpCounts(SimulatorAnswer):
    """Sums over all ends of connections; `packets` entered the network, and it dropped `dropped` of them."""

    sent: int
    retransmitted: int
    timeouts: int
    probes: int
    undone: int
    packets: int
    dropped: int


class TrialAnswer(SimulatorAnswer):
    """A trial in virtual time.

    Attributes:
        refused: why there was none; None where there was one.
    """

    refused: str | None = None
    started_ns: int = 0
    ended_ns: int = 0
    calls: MeasuredCalls | None = None
    streams: list[MeasuredStream] = Field(default_factory=list)
    tcp: TcpCounts | None = None
