"""The measurement of a trial: what the agent reports becomes monitors/<trial>.* and metrics."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic.main import IncEx

from crosswind.results.durable import write_text
from crosswind.results.measurement import Histogram, Measurement, Monitored, Trend
from crosswind.results.query import write_rows
from crosswind.results.rows import Metric

TABLES = {
    "counters": {
        "at_ns": "BIGINT",
        "element": "VARCHAR",
        "class": "VARCHAR",
        "arrived_bytes": "BIGINT",
        "departed_bytes": "BIGINT",
        "dropped_packets": "BIGINT",
        "dropped_bytes": "BIGINT",
        "queued_bytes": "BIGINT",
    },
    "credit": {"at_ns": "BIGINT", "element": "VARCHAR", "left_bits": "BIGINT"},
    "drops": {
        "at_ns": "BIGINT",
        "element": "VARCHAR",
        "reason": "VARCHAR",
        "src": "VARCHAR",
        "dst": "VARCHAR",
        "protocol": "VARCHAR",
        "ip_bytes": "BIGINT",
        "payload_bytes": "BIGINT",
        "tcp_seq": "BIGINT",
        "tcp_flags": "INTEGER",
    },
    "retransmissions": {
        "at_ns": "BIGINT",
        "node": "VARCHAR",
        "src": "VARCHAR",
        "dst": "VARCHAR",
        "tcp_seq": "BIGINT",
        "payload_bytes": "BIGINT",
        "since_first_ns": "BIGINT",
    },
    "held_acknowledgements": {
        "at_ns": "BIGINT",
        "node": "VARCHAR",
        "src": "VARCHAR",
        "dst": "VARCHAR",
        "held_ns": "BIGINT",
    },
    "histograms": {
        "element": "VARCHAR",
        "place": "VARCHAR",
        "of": "VARCHAR",
        "what": "VARCHAR",
        "unit": "VARCHAR",
        "counts": "VARCHAR",
        "low": "BIGINT",
        "high": "BIGINT",
        "count": "BIGINT",
    },
    "trends": {
        "element": "VARCHAR",
        "place": "VARCHAR",
        "of": "VARCHAR",
        "what": "VARCHAR",
        "unit": "VARCHAR",
        "at_ns": "BIGINT",
        "step_ns": "BIGINT",
        "mean": "DOUBLE",
        "max": "BIGINT",
    },
    "interference": {"source": "VARCHAR", "at_ns": "BIGINT", "rate_bps": "BIGINT"},
    "capacity": {"link": "VARCHAR", "at_ns": "BIGINT", "rate_bps": "BIGINT"},
}

# The parts of a measurement that are in tables, and not in its JSON.
_IN_TABLES: Mapping[str, IncEx | bool] = {
    "interference": True,
    "series": {"rows": True, "credit": True},
    "drops": {"rows": True},
    "retransmissions": {"rows": True},
    "held_acknowledgements": {"rows": True},
    "capacity": {"__all__": {"changes": True}},
    "monitors": {
        "__all__": {"histograms": {"__all__": {"bins": True}}, "trends": {"__all__": {"rows": True}}},
    },
}


def store_monitors(
    measurement: Measurement, load: Mapping[str, object], trial: str, folder: Path
) -> list[Metric]:
    """Write the tables and the rest of a measurement durably; return its metrics.

    Args:
        load: the summary of the load generator (docs/reference/contracts.md, section 4), stored as `load`.
        trial: name of the attempt.
        folder: the folder of monitors.
    """
    tables: dict[str, Iterable[object]] = {
        "counters": measurement.series.rows,
        "drops": measurement.drops.rows,
        "retransmissions": measurement.retransmissions.rows,
        "held_acknowledgements": measurement.held_acknowledgements.rows,
        "interference": _interference_rows(measurement),
        "capacity": _capacity_rows(measurement),
    }
    if measurement.series.credit:
        tables["credit"] = measurement.series.credit
    if measurement.monitors:
        tables["histograms"] = _histogram_rows(measurement)
        tables["trends"] = _trend_rows(measurement)
    for name, rows in tables.items():
        write_rows(folder / f"{trial}.{name}.parquet", TABLES[name], rows)
    rest = measurement.model_dump(by_alias=True, exclude_unset=True, exclude=_IN_TABLES)
    write_text(folder / f"{trial}.json", json.dumps({**rest, "load": dict(load)}, indent=1) + "\n")
    return _metrics(measurement)


def _interference_rows(measurement: Measurement) -> Iterator[dict[str, object]]:
    for source in measurement.interference:
        for draw in source.draws:
            yield {"source": source.source, "at_ns": draw.at_ns, "rate_bps": draw.rate_bps}


def _capacity_rows(measurement: Measurement) -> Iterator[dict[str, object]]:
    for driven in measurement.capacity:
        for change in driven.changes:
            yield {"link": driven.link, "at_ns": change.at_ns, "rate_bps": change.rate_bps}


def _histogram_rows(measurement: Measurement) -> Iterator[dict[str, object]]:
    for monitor in measurement.monitors:
        for histogram in monitor.histograms:
            labels = _labels(monitor, histogram) | {"counts": histogram.counts}
            for low, high, count in histogram.bins:
                yield {**labels, "low": low, "high": high, "count": count}


def _trend_rows(measurement: Measurement) -> Iterator[dict[str, object]]:
    for monitor in measurement.monitors:
        for trend in monitor.trends:
            labels = _labels(monitor, trend) | {"step_ns": trend.step_ns}
            for at_ns, mean, greatest in trend.rows:
                yield {**labels, "at_ns": at_ns, "mean": mean, "max": greatest}


def _labels(monitor: Monitored, measured: Histogram | Trend) -> dict[str, object]:
    return {
        "element": monitor.element,
        "place": monitor.place,
        "of": monitor.of,
        "what": measured.what,
        "unit": measured.unit,
    }


def _metrics(measurement: Measurement) -> list[Metric]:
    metrics = [
        Metric(None, "ledger.error", "ns", statistic, value)
        for statistic, value in measurement.ledger.error_ns.items()
        if value is not None
    ]
    offered = _mean_offered_bps(measurement)
    if offered is not None:
        metrics.append(Metric(None, "interference.offered", "bit/s", "mean", offered))
    drops: Counter[tuple[str, str]] = Counter()
    for element in measurement.elements:
        for reason, dropped in element.real.dropped.items():
            drops[element.place, reason] += dropped.packets
    for (place, reason), packets in sorted(drops.items()):
        metrics.append(Metric(place, "drops", "count", reason, packets))
    for node in measurement.nodes:
        if node.memory_peak_bytes is not None and node.cpu_time_ns is not None:
            metrics.append(Metric(node.node, "memory.peak", "B", "max", node.memory_peak_bytes))
            metrics.append(Metric(node.node, "cpu.time", "ns", "total", node.cpu_time_ns))
    if measurement.carried is None:
        metrics.append(Metric(None, "retransmissions", "count", "count", measurement.retransmitted))
    return metrics


def _mean_offered_bps(measurement: Measurement) -> float | None:
    """Return the time-weighted mean of the drawn rates, averaged over sources; None where none was finite."""
    means = []
    for source in measurement.interference:
        draws = sorted(source.draws, key=lambda draw: draw.at_ns)
        ends = [draw.at_ns for draw in draws[1:]] + [measurement.window.ended_ns]
        weighted = [
            (draw.rate_bps, end - draw.at_ns)
            for draw, end in zip(draws, ends, strict=True)
            # An unlimited draw has no rate to average; it is visible as a null in the interference table.
            if draw.rate_bps is not None and end > draw.at_ns
        ]
        total_ns = sum(length_ns for _, length_ns in weighted)
        if total_ns:
            means.append(sum(rate * length_ns for rate, length_ns in weighted) / total_ns)
    return sum(means) / len(means) if means else None
