"""Which applications can be simulated: those whose ends only send and receive, over TCP."""

from __future__ import annotations

from collections.abc import Sequence

from crosswind.app import Application
from crosswind.app.iperf3 import Iperf3
from crosswind.app.rpc import Rpc
from crosswind.app.streams import goodput_metrics
from crosswind.app.traffic import Traffic
from crosswind.errors import CrosswindError
from crosswind.results import Metric
from crosswind.simulation.trial_answer import CallQuantiles, MeasuredCalls, TrialAnswer
from crosswind.simulation.trial_plan import (
    SimulatedApplication,
    SimulatedCalls,
    SimulatedCallsOnly,
    SimulatedStream,
    SimulatedStreamsOnly,
)

# What iperf3 writes at a time.
_IPERF3_WRITE_BYTES = 128 << 10
_NS_PER_S = 1_000_000_000


def simulated(
    application: Application, nodes: Sequence[str], congestion_control: str | None
) -> SimulatedApplication:
    """Return what an application does on these nodes, for the simulator.

    Args:
        congestion_control: the topology's.
    Raises: CrosswindError: it cannot be simulated; the text says which part of it.
    """
    match application:
        case Rpc():
            return _rpc(application)
        case Iperf3():
            return _iperf3(application, congestion_control)
        case Traffic():
            return _traffic(application, nodes, congestion_control)
        case _:
            raise CrosswindError(
                f"application {application.name}: only rpc, iperf3 and traffic are simulated; run the "
                "experiment, or offer packets with --offer"
            )


def _rpc(application: Rpc) -> SimulatedCallsOnly:
    asked = application.parameters
    return SimulatedCallsOnly(
        calls=SimulatedCalls(
            client="client",
            server="server",
            request_bytes=asked.request_bytes,
            response_bytes=asked.response_bytes,
            connections=asked.connections,
            rate_per_s=asked.rate,
            arrivals=asked.arrivals,
        )
    )


def _iperf3(application: Iperf3, congestion_control: str | None) -> SimulatedStreamsOnly:
    asked = application.parameters
    if asked.protocol == "udp" or asked.rate_bps is not None:
        raise CrosswindError("application iperf3: only TCP without a `rate` is simulated; leave it out")
    _check_congestion_control("iperf3", asked.congestion_control, congestion_control)
    sender, receiver = ("client", "server") if asked.sender == "client" else ("server", "client")
    write_bytes = asked.write_bytes or _IPERF3_WRITE_BYTES
    return SimulatedStreamsOnly(
        streams=[
            SimulatedStream(
                sender=sender, receiver=receiver, connections=asked.streams, write_bytes=write_bytes
            )
        ]
    )


def _traffic(
    application: Traffic, nodes: Sequence[str], congestion_control: str | None
) -> SimulatedStreamsOnly:
    asked = application.parameters
    if asked.has_messages:
        raise CrosswindError(
            "application traffic: messages are not simulated; use rpc, or leave `message` out"
        )
    for own in asked.congestion_control or ():
        _check_congestion_control("traffic", own, congestion_control)
    pairs: list[tuple[str, str]]
    match asked.pattern:
        case "pairs":
            pairs = list(zip(nodes[::2], nodes[1::2], strict=True))
        case "one-to-many":
            pairs = [(nodes[0], node) for node in nodes[1:]]
        case "many-to-one":
            pairs = [(node, nodes[0]) for node in nodes[1:]]
        case "many-to-many":
            pairs = [(one, other) for one in nodes for other in nodes if one != other]
        case "ring":
            pairs = list(zip(nodes, [*nodes[1:], nodes[0]], strict=True))
    return SimulatedStreamsOnly(
        streams=[
            SimulatedStream(
                sender=sender,
                receiver=receiver,
                connections=asked.connections,
                write_bytes=asked.write_bytes,
            )
            for sender, receiver in pairs
        ]
    )


def _check_congestion_control(name: str, own: str | None, common: str | None) -> None:
    if own is not None and own != common:
        raise CrosswindError(
            f"application {name}: a congestion control of its own ({own}) is not simulated; set it under "
            "`topology: tcp`"
        )


def metrics_of(application: Application, answer: TrialAnswer) -> list[Metric]:
    """Return the metrics of a trial in virtual time, with the names and units of live ones."""
    if answer.calls is not None:
        return _calls(answer.calls)
    window_s = (answer.ended_ns - answer.started_ns) / _NS_PER_S
    rates_bps = [8 * stream.bytes / window_s for stream in answer.streams]
    retransmits = sum(stream.retransmits for stream in answer.streams)
    rtts_ns = [1e3 * stream.rtt_us for stream in answer.streams if stream.rtt_us is not None]
    is_iperf3 = isinstance(application, Iperf3)
    first = answer.streams[0]
    metrics = goodput_metrics(first.receiver if is_iperf3 else None, sum(rates_bps), rates_bps)
    sender = first.sender if is_iperf3 else None
    metrics.append(Metric(sender, "retransmits", "count", "count", retransmits))
    if rtts_ns:
        metrics.append(Metric(sender, "rtt", "ns", "mean", sum(rtts_ns) / len(rtts_ns)))
    return metrics


def _calls(calls: MeasuredCalls) -> list[Metric]:
    node = "client"
    metrics = [
        Metric(node, "operations", "count", "count", calls.operations),
        Metric(node, "errors", "count", "count", 0),
        Metric(node, "throughput", "1/s", "mean", calls.per_s),
        Metric(node, "timeouts", "count", "count", calls.timeouts),
    ]
    for name, quantiles in (("latency", calls.latency_ns), ("response", calls.response_ns)):
        if quantiles is not None:
            metrics += _quantiles(node, name, quantiles)
    if calls.not_started:
        metrics.append(Metric(node, "not-started", "count", "count", calls.not_started))
    return metrics


def _quantiles(node: str, metric: str, quantiles: CallQuantiles) -> list[Metric]:
    return [
        Metric(node, metric, "ns", statistic, getattr(quantiles, statistic))
        for statistic in ("p50", "p90", "p95", "p99", "p999", "max", "mean")
    ]
