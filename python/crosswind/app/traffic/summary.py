"""From the summary of `crosswind-load traffic` (docs/reference/contracts.md, section 4) to metrics. Pure.

All rates are over one window that all connections have in common, counted where bytes arrive: averages over
windows of their own would add up to more than a line carries. Where a count of messages ends the run, that
window is from the common start to the end of the slowest, and a connection's own rate is to its own end.
"""

from collections.abc import Mapping
from typing import Any

from crosswind.app.streams import goodput_metrics
from crosswind.results.rows import Metric
from crosswind.testbed.errors import TestbedError

NS_PER_S = 1_000_000_000


def metrics_of(summary: Mapping[str, Any]) -> list[Metric]:
    """Return the metrics of a trial.

    Raises: TestbedError: nothing arrived in the measured window.
    """
    connections = summary["connections"]
    started_ns, ended_ns = summary["started_ns"], summary["ended_ns"]
    moved = [_arrived(one) for one in connections]
    if not any(moved):
        raise TestbedError("traffic: not one byte arrived in the measured phase; is the path cut?")
    if ended_ns is None:
        own_ends_ns = [one["finished_ns"] for one in connections]
        ended_ns = max(own_ends_ns)
    else:
        own_ends_ns = [ended_ns] * len(connections)
    rates_bps = [
        8 * NS_PER_S * bytes_ / (end_ns - started_ns)
        for bytes_, end_ns in zip(moved, own_ends_ns, strict=True)
    ]
    window_ns = ended_ns - started_ns
    metrics = goodput_metrics(None, 8 * NS_PER_S * sum(moved) / window_ns, rates_bps)
    if summary["ended_ns"] is None:
        metrics += [
            Metric(None, "completion", "ns", "max", window_ns),
            *(
                Metric(one["from"], f"completion.{one['connection']}", "ns", "max", end_ns - started_ns)
                for one, end_ns in zip(connections, own_ends_ns, strict=True)
            ),
        ]
    retransmits = [one["retransmits"] for one in connections if one["retransmits"] is not None]
    if retransmits:
        metrics.append(Metric(None, "retransmits", "count", "count", sum(retransmits)))
    rtts_us = [one["rtt_us"] for one in connections if one["rtt_us"]]
    if rtts_us:
        metrics.append(Metric(None, "rtt", "ns", "mean", 1e3 * sum(rtts_us) / len(rtts_us)))
    if summary["not_started"]:
        metrics.append(Metric(None, "not-started", "count", "count", summary["not_started"]))
    return metrics + _by_node(connections, window_ns)


def _by_node(connections: list[Mapping[str, Any]], window_ns: int) -> list[Metric]:
    """Return what each node sent, received and computed within the window."""
    names = list(dict.fromkeys(one[end] for end in ("from", "to") for one in connections))
    sent, received, cpu_ns = (dict.fromkeys(names, 0) for _ in range(3))
    for one in connections:
        messages, answers = one["messages"]["window_bytes"], (one["answers"] or {}).get("window_bytes", 0)
        sent[one["from"]] += messages
        received[one["to"]] += messages
        sent[one["to"]] += answers
        received[one["from"]] += answers
        cpu_ns[one["from"]] += one["sender_cpu_ns"]
        cpu_ns[one["to"]] += one["receiver_cpu_ns"]
    return [
        metric
        for name in names
        for metric in (
            Metric(name, "sent", "B", "sum", sent[name]),
            Metric(name, "received", "B", "sum", received[name]),
            Metric(name, "cpu", "1", "mean", cpu_ns[name] / window_ns),
        )
    ]


def _arrived(connection: Mapping[str, Any]) -> int:
    """Return the payload that a connection moved within the window, in both directions, B."""
    answers = connection["answers"]
    moved: int = connection["messages"]["window_bytes"] + (answers["window_bytes"] if answers else 0)
    return moved
