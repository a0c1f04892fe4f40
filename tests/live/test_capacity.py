"""A capacity changes a live link when it is due, counts from the measurement, and is recorded."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crosswind.results.measurement import RateStep
from crosswind.spec.resolved import ResolvedStep
from crosswind.testbed import Agent, RunningFabric
from crosswind.testbed.plain import plain_fabric

MS = 1_000_000

pytestmark = pytest.mark.usefixtures("live")  # Skips where no agent can work.


def capacity(process: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"capacity": {"process": process}}]


def measured(
    folder: Path,
    process: dict[str, Any],
    seed: int,
    seconds: float,
    timeline: Sequence[tuple[int, list[dict[str, Any]]]] = (),
) -> tuple[int, dict[str, list[RateStep]]]:
    """Return when a measurement started and what it says of each driven link.

    `timeline` has the elements that replace those of links, by instant.
    """
    spec = plain_fabric(rate_bps=10**8, places={"link": capacity(process)}, seed=seed)
    steps = [ResolvedStep(at_ns=at_ns, places={"link": elements}) for at_ns, elements in timeline]
    spec = spec.with_changes(condition=spec.condition.model_copy(update={"timeline": steps}))
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


def test_rates_from_before_a_step_of_the_timeline_are_kept(tmp_path: Path) -> None:
    delay = {"delay": {"time_ns": 1000}}
    timeline = [
        (20 * MS, capacity({"levels": {"at_ns": [0, 5 * MS], "rate_bps": [3 * 10**8, 0]}})),
        (40 * MS, [delay]),
        (60 * MS, [delay, *capacity({"levels": {"at_ns": [0], "rate_bps": [None]}})]),
    ]
    first = {"levels": {"at_ns": [0, 10 * MS, 30 * MS], "rate_bps": [10**9, 2 * 10**9, 5]}}
    started_ns, changes = measured(tmp_path, first, 1, 0.1, timeline)
    assert sorted(changes) == ["h0/downlink", "h0/uplink", "h1/downlink", "h1/uplink"]
    # The link has its own rate where nothing drives it. A step is late where the machine is.
    expected = [
        (0, 10**9), (10 * MS, 2 * 10**9), (20 * MS, 3 * 10**8), (25 * MS, 0), (40 * MS, 10**8),
        (60 * MS, None),
    ]  # fmt: skip
    for link in changes.values():
        assert [change.rate_bps for change in link] == [rate for _, rate in expected]
        late_ns = [change.at_ns - started_ns - at for change, (at, _) in zip(link, expected, strict=True)]
        assert min(late_ns) >= 0
        assert max(late_ns) < 5 * MS, late_ns


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
