"""The measurement of a trial: from the agent's JSON to monitors/<trial>.* and to metrics."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crosswind.results.durable import write_text
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

# An agent of an earlier version, which CROSSWIND_AGENT may name, does not know of every table.
_NONE: Mapping[str, Any] = {"lost_records": 0, "rows": []}


def store_monitors(
    measurement: Mapping[str, Any], load: Mapping[str, Any], trial: str, folder: Path
) -> list[Metric]:
    """Write the tables and the rest of a measurement durably; return its metrics.

    Args:
        measurement: docs/reference/contracts.md, section 3.
        load: the load generator's summary (section 4), kept in the JSON as `load`.
        trial: name of the attempt.
        folder: the folder of monitors.
    """
    tables: dict[str, list[Any]] = {
        "counters": measurement["series"]["rows"],
        "drops": measurement["drops"]["rows"],
        "retransmissions": measurement["retransmissions"]["rows"],
        "held_acknowledgements": measurement.get("held_acknowledgements", _NONE)["rows"],
        "interference": [
            {"source": source["source"], **draw}
            for source in measurement["interference"]
            for draw in source["draws"]
        ],
        "capacity": [
            {"link": driven["link"], **change}
            for driven in measurement["capacity"]
            for change in driven["changes"]
        ],
    }
    if measurement["monitors"]:
        tables["histograms"] = list(_histogram_rows(measurement))
        tables["trends"] = list(_trend_rows(measurement))
    for name, rows in tables.items():
        write_rows(folder / f"{trial}.{name}.parquet", TABLES[name], rows)
    rest = {key: value for key, value in measurement.items() if key != "interference"}
    rest["series"] = {"step_ns": measurement["series"]["step_ns"]}
    rest["monitors"] = [_without_rows(monitor) for monitor in measurement["monitors"]]
    for name in ("drops", "retransmissions", "held_acknowledgements"):
        rest[name] = {"lost_records": measurement.get(name, _NONE)["lost_records"]}
    rest["capacity"] = [
        {"link": driven["link"], "lost_records": driven["lost_records"]} for driven in measurement["capacity"]
    ]
    write_text(folder / f"{trial}.json", json.dumps({**rest, "load": dict(load)}, indent=1) + "\n")
    return _metrics(measurement)


def _histogram_rows(measurement: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for monitor in measurement["monitors"]:
        for histogram in monitor["histograms"]:
            labels = {key: monitor[key] for key in ("element", "place", "of")}
            labels |= {key: histogram[key] for key in ("what", "unit", "counts")}
            for low, high, count in histogram["bins"]:
                yield {**labels, "low": low, "high": high, "count": count}


def _trend_rows(measurement: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for monitor in measurement["monitors"]:
        for trend in monitor["trends"]:
            labels = {key: monitor[key] for key in ("element", "place", "of")}
            labels |= {key: trend[key] for key in ("what", "unit", "step_ns")}
            for at_ns, mean, greatest in trend["rows"]:
                yield {**labels, "at_ns": at_ns, "mean": mean, "max": greatest}


def _without_rows(monitor: Mapping[str, Any]) -> dict[str, Any]:
    histograms = [
        {key: value for key, value in histogram.items() if key != "bins"}
        for histogram in monitor["histograms"]
    ]
    trends = [{key: value for key, value in trend.items() if key != "rows"} for trend in monitor["trends"]]
    return {**monitor, "histograms": histograms, "trends": trends}


def _metrics(measurement: Mapping[str, Any]) -> list[Metric]:
    metrics = [
        Metric(None, "ledger.error", "ns", statistic, value)
        for statistic, value in measurement["ledger"]["error_ns"].items()
        if value is not None
    ]
    offered = _mean_offered_bps(measurement)
    if offered is not None:
        metrics.append(Metric(None, "interference.offered", "bit/s", "mean", offered))
    drops: Counter[tuple[str, str]] = Counter()
    for element in measurement["elements"]:
        for reason, dropped in element["real"]["dropped"].items():
            drops[element["place"], reason] += dropped["packets"]
    for (place, reason), packets in sorted(drops.items()):
        metrics.append(Metric(place, "drops", "count", reason, packets))
    # An agent of an earlier version, which CROSSWIND_AGENT may name, does not know.
    for node in measurement.get("nodes", []):
        if node["memory_peak_bytes"] is not None:
            metrics.append(Metric(node["node"], "memory.peak", "B", "max", node["memory_peak_bytes"]))
            metrics.append(Metric(node["node"], "cpu.time", "ns", "total", node["cpu_time_ns"]))
    retransmissions = measurement["retransmissions"]
    count = len(retransmissions["rows"]) + retransmissions["lost_records"]
    metrics.append(Metric(None, "retransmissions", "count", "count", count))
    return metrics


def _mean_offered_bps(measurement: Mapping[str, Any]) -> float | None:
    """Return the time-weighted mean of the drawn rates, averaged over sources; None where none was finite."""
    ended_ns = measurement["window"]["ended_ns"]
    means = []
    for source in measurement["interference"]:
        draws = sorted(source["draws"], key=lambda draw: draw["at_ns"])
        ends = [draw["at_ns"] for draw in draws[1:]] + [ended_ns]
        weighted = [
            (draw["rate_bps"], end - draw["at_ns"])
            for draw, end in zip(draws, ends, strict=True)
            # An unlimited draw has no rate to average; it is visible as a null in the interference table.
            if draw["rate_bps"] is not None and end > draw["at_ns"]
        ]
        total_ns = sum(length_ns for _, length_ns in weighted)
        if total_ns:
            means.append(sum(rate * length_ns for rate, length_ns in weighted) / total_ns)
    return sum(means) / len(means) if means else None
