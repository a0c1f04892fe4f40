"""A capacity changes a live link when it is due, counts from the measurement, and is recorded."""

import time
from pathlib import Path
from typing import Any

import pytest

from crosswind.results.measurement import RateStep
from crosswind.testbed import Agent, RunningFabric
from crosswind.testbed.plain import plain_fabric

pytestmark = pytest.mark.usefixtures("live")  # Skips where no agent can work.


def measured(
    folder: Path, process: dict[str, Any], seed: int, seconds: float
) -> tuple[int, dict[str, list[RateStep]]]:
    """Return when a measurement started and what it says of each driven link."""
    spec = plain_fabric(places={"link": [{"capacity": {"process": process}}]}, seed=seed)
    with Agent() as agent, RunningFabric(agent, spec, folder) as fabric:
        time.sleep(0.05)  # What happens before the measurement is no part of it.
        fabric.measure()
        time.sleep(seconds)
        measurement = fabric.read()
    return measurement.window.started_ns, {driven.link: driven.changes for driven in measurement.capacity}


def test_steps_count_from_the_start_of_the_measurement(tmp_path: Path) -> None:
    levels = {"at_ns": [0, 10_000_000, 20_000_000], "rate_bps": [10**9, 0, None]}
    started_ns, changes = measured(tmp_path, {"levels": levels}, 1, 0.1)
    assert sorted(changes) == ["h0/downlink", "h0/uplink", "h1/downlink", "h1/uplink"]
    for link in changes.values():
        assert [(change.at_ns - started_ns, change.rate_bps) for change in link] == [
            (0, 10**9), (10_000_000, 0), (20_000_000, None)
        ]  # fmt: skip


def test_the_same_seed_draws_the_same_capacity_and_every_link_its_own(tmp_path: Path) -> None:
    cells = [{"low_bps": 10**6, "high_bps": 10**9, "weight": 1}]
    drawn = {"drawn": {"cells": cells, "grid_bps": 1, "hold_ns": 5_000_000}}
    runs = [measured(tmp_path / str(run), drawn, seed, 0.1)[1] for run, seed in enumerate((1, 1, 2))]
    first, again, other = (
        {link: tuple(change.rate_bps for change in changes[:15]) for link, changes in run.items()}
        for run in runs
    )
    assert first == again
    assert len({*first.values(), *other.values()}) == 8
