"""Metrics from the summary of `crosswind-load traffic` (docs/reference/contracts.md, section 4). Pure.

All rates are over one window that all connections share, and bytes are counted where they arrive. Averages
over separate windows would add up to more than a link carries. If a count of messages ends the run, the
window lasts from the common start to the end of the slowest connection. A connection's own rate is up to its
own end.
"""

from pydantic import Field

from crosswind.app.streams import goodput_metrics
from crosswind.app.written import Facts, WrittenPart
from crosswind.results.rows import Metric
from crosswind.testbed.errors import TestbedError

NS_PER_S = 1_000_000_000


class Options(WrittenPart):
    """Lengths that the load generator ran with, s; no `duration` where a count of messages ends the run."""

    part: float
    warm_up: float
    duration: float | None


class DirectionPayload(WrittenPart):
    """The payload of a connection in one direction.

    Attributes:
        window_bytes: that arrived within the measured window.
        series: bytes of each part of `part_ns`, from the begin of the warm-up.
    """

    total_bytes: int
    window_bytes: int
    part_ns: int
    series: list[int]


class TrafficConnection(WrittenPart):
    """One connection.

    Attributes:
        sender, receiver: the names of their nodes.
        answers: None where receivers send only receipts.
        finished_ns: end of the last measured message; None where there are none.
        sender_cpu_ns, receiver_cpu_ns: CPU time of its threads within the window.
        retransmits: in its whole life; None where the kernel does not say.
        rtt_us: smoothed, averaged over the window; likewise.
    """

    connection: int
    sender: str = Field(alias="from")
    receiver: str = Field(alias="to")
    messages: DirectionPayload
    answers: DirectionPayload | None
    finished_ns: int | None
    sender_cpu_ns: int
    receiver_cpu_ns: int
    retransmits: int | None
    rtt_us: int | None

    @property
    def moved_bytes(self) -> int:
        """The payload that arrived within the window, in both directions."""
        return self.messages.window_bytes + self.answered_bytes

    @property
    def answered_bytes(self) -> int:
        """The payload of answers that arrived within the window."""
        return 0 if self.answers is None else self.answers.window_bytes


class TrafficSummary(Facts):
    """What all connections did.

    Attributes:
        started_ns, ended_ns: the measured window, CLOCK_MONOTONIC; no end where a count of messages ends it.
        not_started: messages that were due and were never sent.
    """

    started_ns: int
    ended_ns: int | None
    not_started: int
    connections: list[TrafficConnection]

    @property
    def options(self) -> Options:
        """The lengths among its parameters."""
        return Options.model_validate(self.parameters)


def metrics_of(summary: TrafficSummary) -> list[Metric]:
    """Return the metrics of a trial.

    Raises: TestbedError: nothing arrived in the measured window.
    """
    connections, started_ns = summary.connections, summary.started_ns
    if not any(one.moved_bytes for one in connections):
        raise TestbedError("traffic: not one byte arrived in the measured phase; is the path cut?")
    ends_ns = [_end_ns(one, summary) for one in connections]
    rates_bps = [
        8 * NS_PER_S * one.moved_bytes / (end_ns - started_ns)
        for one, end_ns in zip(connections, ends_ns, strict=True)
    ]
    window_ns = max(ends_ns) - started_ns
    total_bytes = sum(one.moved_bytes for one in connections)
    metrics = goodput_metrics(None, 8 * NS_PER_S * total_bytes / window_ns, rates_bps)
    if summary.ended_ns is None:
        metrics += [
            Metric(None, "completion", "ns", "max", window_ns),
            *(
                Metric(one.sender, f"completion.{one.connection}", "ns", "max", end_ns - started_ns)
                for one, end_ns in zip(connections, ends_ns, strict=True)
            ),
        ]
    retransmits = [one.retransmits for one in connections if one.retransmits is not None]
    if retransmits:
        metrics.append(Metric(None, "retransmits", "count", "count", sum(retransmits)))
    rtts_us = [one.rtt_us for one in connections if one.rtt_us]
    if rtts_us:
        metrics.append(Metric(None, "rtt", "ns", "mean", 1e3 * sum(rtts_us) / len(rtts_us)))
    if summary.not_started:
        metrics.append(Metric(None, "not-started", "count", "count", summary.not_started))
    return metrics + _by_node(connections, window_ns)


def _end_ns(connection: TrafficConnection, summary: TrafficSummary) -> int:
    """Return the end of the window of a connection: that of all, or else of its own last message."""
    end_ns = connection.finished_ns if summary.ended_ns is None else summary.ended_ns
    if end_ns is None:
        raise TestbedError(f"traffic: connection {connection.connection} did not finish its messages")
    return end_ns


def _by_node(connections: list[TrafficConnection], window_ns: int) -> list[Metric]:
    """Return what each node sent and received within the window, and the CPU time that it took."""
    names = list(dict.fromkeys(name for one in connections for name in (one.sender, one.receiver)))
    sent, received, cpu_ns = (dict.fromkeys(names, 0) for _ in range(3))
    for one in connections:
        sent[one.sender] += one.messages.window_bytes
        received[one.receiver] += one.messages.window_bytes
        sent[one.receiver] += one.answered_bytes
        received[one.sender] += one.answered_bytes
        cpu_ns[one.sender] += one.sender_cpu_ns
        cpu_ns[one.receiver] += one.receiver_cpu_ns
    return [
        metric
        for name in names
        for metric in (
            Metric(name, "sent", "B", "sum", sent[name]),
            Metric(name, "received", "B", "sum", received[name]),
            Metric(name, "cpu", "1", "mean", cpu_ns[name] / window_ns),
        )
    ]
