"""Write a results folder of an application that has no operations: jobs with a time, bytes and a rate."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from crosswind.results.query import write_rows
from crosswind.results.tables import METRICS, TRIALS

FIGURES = [
    {"metric": "job.time", "statistic": "value", "unit": "ns", "label": "job time", "better": "lower"},
    {"metric": "shuffle", "statistic": "sum", "unit": "B", "label": "shuffled", "better": "lower"},
    {"metric": "rate", "statistic": "mean", "unit": "bit/s", "label": "shuffle rate", "better": "higher"},
    {"metric": "lost", "statistic": "count", "unit": "count", "label": "lost tasks", "better": "lower"},
]
# condition: median job time in s
CONDITIONS = {"none": 24.0, "nsdi20/full-bucket": 24.4, "nsdi20/empty-bucket": 71.0}


def write_jobs(folder: Path, blocks: int = 6, without: str | None = None) -> Path:
    """Write a results folder and return it.

    Args:
        blocks: each condition once per block.
        without: a metric that the first trial lacks.
    """
    folder.mkdir(parents=True)
    generator = np.random.default_rng(3)
    trials: list[dict[str, Any]] = []
    metrics: list[dict[str, Any]] = []
    started = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    for block in range(blocks):
        for name, median_s in CONDITIONS.items():
            trial = f"b{block:02d}-p{len(trials):02d}-{name.rpartition('/')[2]}"
            taken_s = median_s * generator.normal(1, 0.02)
            started += timedelta(seconds=taken_s + 9)
            trials.append(
                {"trial": trial, "block": block, "position": len(trials), "condition": name,
                 "application": "spark", "status": "done", "fidelity": "faithful",
                 "started": started.isoformat(), "duration_s": taken_s + 8, "attempt": 1, "seed": block}
            )  # fmt: skip
            # Two workers shuffle half of it each: a figure is the sum over nodes.
            values = {
                "job.time": [("master", taken_s * 1e9)],
                "shuffle": [("worker1", 231e6), ("worker2", 232e6)],
                "rate": [("worker1", 231e6 * 8 / taken_s), ("worker2", 232e6 * 8 / taken_s)],
                "lost": [("master", 0.0)],
            }
            if len(trials) == 1 and without:
                del values[without]
            metrics += [
                {"trial": trial, "node": node, "value": value}
                | {key: figure[key] for key in ("metric", "unit", "statistic")}
                for figure in FIGURES
                for node, value in values.get(figure["metric"], [])
            ]
    write_rows(folder / "trials.parquet", TRIALS, trials)
    write_rows(folder / "metrics.parquet", METRICS, metrics)
    (folder / "resolved.json").write_text(
        json.dumps(
            {
                "schema": 2,
                "name": "nsdi20-terasort",
                "summary": "Terasort on a fresh and on a spent token bucket",
                "source": "Uta et al., NSDI '20, Figure 19",
                "scale": 1,
                "application": {
                    "name": "spark",
                    "size": "small",
                    "parameters": {"job": "terasort"},
                    "figures": FIGURES,
                },
                "trials": {"order": "randomised-blocks"},
                "conditions": [{"name": name, "summary": "", "places": {}} for name in CONDITIONS],
            }
        )
    )
    return folder
