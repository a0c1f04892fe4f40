"""Runs on disk: one job time a trial, as docs/reference/contracts.md, section 5, describes it."""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

MACHINE = {"kernel": "6.1", "cpu": "x", "cores": 2, "clock_source": "tsc", "tools": {"store": "1"}}

WriteRun = Callable[..., Path]


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """Write a run: its name, and for each condition a seed, a typical job time and the number of trials.

    With `change` trials from the first of its numbers on take as many times longer as the second says. Of a
    condition that `failed` names so many trials have failed, the first ones.
    """

    def write(
        name: str,
        job_s: dict[str, tuple[int, float, int]],
        better: str = "lower",
        change: tuple[int, float] = (0, 1),
        failed: dict[str, int] | None = None,
        **machine: object,
    ) -> Path:
        return _run_folder(tmp_path / name, job_s, better, change, failed or {}, machine)

    return write


@pytest.fixture
def base(write_run: WriteRun) -> Path:
    return write_run("base", {"none": (1, 10, 8), "slow": (2, 20, 8)})


def _run_folder(
    path: Path,
    job_s: dict[str, tuple[int, float, int]],
    better: str,
    change: tuple[int, float],
    failed: dict[str, int],
    machine: dict[str, object],
) -> Path:
    path.mkdir()
    figure = {"metric": "job", "statistic": "time", "unit": "s", "label": "job time", "better": better}
    resolved = {
        "name": "jobs",
        "schema": 2,
        "topology": {},
        "application": {"name": "spark", "parameters": {"cores": 2}, "figures": [figure]},
        "conditions": [{"name": name, "link": []} for name in job_s],
    }
    (path / "resolved.json").write_text(json.dumps(resolved))
    (path / "provenance.json").write_text(json.dumps({"before": MACHINE | machine, "after": None}))
    trials, metrics = [], []
    for name, (seed, scale, n) in job_s.items():
        times = scale * np.random.default_rng(seed).lognormal(sigma=0.05, size=n)
        times[change[0] :] *= change[1]
        values = times.round(6).tolist()
        for block, value in enumerate(values):
            trial = f"b{block}-{name}"
            ended = ("failed", "lost", None) if block < failed.get(name, 0) else ("done", None, "faithful")
            trials.append((trial, block, len(trials), name, "spark", *ended, None, None, 1.0, 1, 7))
            if ended[0] == "failed":
                continue
            metrics.append((trial, None, "job", "s", "time", value))
    tables = {
        "trials": (trials, "trial, block, position, condition, application, status, reason, fidelity, "
                           "fidelity_reason, started, duration_s, attempt, seed"),
        "metrics": (metrics, "trial, node, metric, unit, statistic, value"),
    }  # fmt: skip
    with duckdb.connect() as database:
        for table, (rows, columns) in tables.items():
            texts = ["(" + ", ".join("null" if v is None else repr(v) for v in row) + ")" for row in rows]
            select = f"select * from (values {', '.join(texts)}) as t({columns})"
            database.execute(f"copy ({select}) to '{path / table}.parquet' (format parquet)")
    return path
