"""Write a results folder of an experiment with factors, whose performance is a known function of them.

One operation takes 100 us, twice the added delay, and 10 kB at the bandwidth; four connections ask one after
the other. So 1 Gbit/s costs 80 us of 180 where nothing is added, and next to nothing where 1 ms is.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from crosswind import catalog
from crosswind.results.query import write_rows
from crosswind.results.tables import METRICS, TRIALS, factor_columns
from crosswind.spec import load_experiment, resolve

BANDWIDTHS = (1e9, 2e9, 4e9, 10e9)  # bit/s
DELAYS = (0.0, 10e3, 50e3, 200e3, 500e3)  # ns, one way


def throughput(bandwidth: float, delay: float) -> float:
    """Return operations per second."""
    return 4 / (100e-6 + 2 * delay / 1e9 + 8 * 10_000 / bandwidth)


def write_surface(
    folder: Path,
    blocks: int = 6,
    noise: float = 0.02,
    seed: int = 5,
    points: list[tuple[float, float]] | None = None,
    monitors: bool = True,
) -> Path:
    """Write a results folder and return it.

    Args:
        blocks: each condition once per block.
        noise: standard deviation of the logarithm of a trial's throughput.
        points: bandwidth and delay of each condition; the whole grid when absent.
    """
    (folder / "monitors").mkdir(parents=True)
    generator = np.random.default_rng(seed)
    points = points or [(bandwidth, delay) for bandwidth in BANDWIDTHS for delay in DELAYS]
    names = [f"{bandwidth / 1e9:g}gbit-{delay / 1e3:g}us" for bandwidth, delay in points]
    trials: list[dict[str, Any]] = []
    metrics: list[dict[str, Any]] = []
    started = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    for block in range(blocks):
        for name, (bandwidth, delay) in zip(names, points, strict=True):
            trial = f"b{block:02d}-p{len(trials):02d}-{name}"
            started += timedelta(seconds=6)
            trials.append(
                {"trial": trial, "block": block, "position": len(trials), "condition": name,
                 "application": "memcached", "status": "done", "fidelity": "faithful",
                 "started": started.isoformat(), "duration_s": 5.0, "attempt": 1, "seed": block,
                 "factor_bandwidth_bps": bandwidth, "factor_delay_ns": delay}
            )  # fmt: skip
            rate = throughput(bandwidth, delay) * np.exp(noise * generator.normal())
            values = {("throughput", "mean", "1/s"): rate, ("latency", "p50", "ns"): 4e9 / rate,
                      ("latency", "p99", "ns"): 6e9 / rate}  # fmt: skip
            metrics += [
                {"trial": trial, "node": "client", "metric": metric, "statistic": statistic}
                | {"unit": unit, "value": value}
                for (metric, statistic, unit), value in values.items()
            ]
            if monitors:
                _write_monitor(folder, trial, rate * 80_000 / bandwidth, delay)
    resolved = resolve(load_experiment(catalog.experiment_file("nrg-memcached-profile")))
    factors = dict.fromkeys(factor_columns(resolved).values(), "DOUBLE")
    write_rows(folder / "trials.parquet", TRIALS | factors, trials)
    write_rows(folder / "metrics.parquet", METRICS, metrics)
    conditions = [
        {"name": name, "summary": "", "places": {}, "factors": {"bandwidth": bandwidth, "delay": delay}}
        for name, (bandwidth, delay) in zip(names, points, strict=True)
    ]
    (folder / "resolved.json").write_text(json.dumps({**resolved.as_json(), "conditions": conditions}))
    return folder


def _write_monitor(folder: Path, trial: str, used: float, delay: float) -> None:
    """Write a monitor that saw the link idle, or full for a share `used` of the time, bursts and packets.

    It stands behind a bucket and the delay, which is no element where it is 0.
    """
    element = f"h0/link.up/{2 if delay else 1}:monitor"
    full = round(1e6 * min(used, 1))
    longest = round(40 / (1 + delay / 50e3)) + 2
    histograms = {
        ("utilisation", "per-mille", "ns"): [(0, 1, 10**6 - full), (990, 1001, full)],
        ("burst-packets", "packets", "bursts"): [(n, n + 1, 100 // n) for n in range(1, longest)],
        ("packet-size", "B", "packets"): [(64, 65, 100), (1500, 1501, 60 + longest)],
    }
    rows = [
        {"element": element, "place": "link", "of": "h0", "what": what, "unit": unit, "counts": counts,
         "low": low, "high": high, "count": count}
        for (what, unit, counts), bins in histograms.items() for low, high, count in bins
    ]  # fmt: skip
    columns = {key: "BIGINT" if key in ("low", "high", "count") else "VARCHAR" for key in rows[0]}
    write_rows(folder / "monitors" / f"{trial}.histograms.parquet", columns, rows)
