"""An adaptive design begins spread out and goes where the surface is least certain, the same every time."""

import numpy as np
import pytest

from crosswind.plan import chosen_blocks, next_conditions, outline, planned
from crosswind.plan.adaptive import first_points, next_points, places_of
from crosswind.spec import resolve
from crosswind.spec.load import parse_experiment

EXPERIMENT = b"""\
name: surface
topology:
  hosts: 2
  uplink: {rate: 10Gbit/s, delay: 2us, buffer: 512KiB}
  nodes: {server: h0, client: h1}
factors:
  bandwidth: {from: 1Gbit/s, to: 10Gbit/s, levels: 5, spacing: log}
  delay: {from: 0us, to: 1ms, levels: 5}
design: {adaptive: {start: 6, at most: 11, step: 3}}
conditions:
  - $bandwidth-$delay:
      link: [{shape: {rate: $bandwidth, burst: 75kB, buffer: 512KiB}}, {delay: {time: $delay}}]
application:
  rpc: {size: small}
trials: {repeat: 2, seed: 7}
"""


@pytest.fixture(scope="module")
def resolved():
    return resolve(parse_experiment(EXPERIMENT, "surface.yaml"))


def performance(resolved, names) -> dict[str, list[float]]:
    levels = {c.name: c.factors for c in resolved.conditions}
    return {n: [1 / (1 + levels[n]["delay"] / 1e5 + k * 0.01) for k in range(2)] for n in names}


def test_a_run_begins_with_the_corners_and_what_is_far_from_them(resolved) -> None:
    trials = planned(resolved)
    assert len(trials) == 12
    assert [trial.position for trial in trials] == list(range(12))
    names = {trial.condition for trial in trials}
    assert {"1gbit-0us", "1gbit-1ms", "10gbit-0us", "10gbit-1ms", "3.16gbit-500us"} <= names


def test_points_are_chosen_that_were_not_run_until_there_are_as_many_as_allowed(resolved) -> None:
    names = sorted({trial.condition for trial in planned(resolved)})
    chosen = next_conditions(resolved, names, performance(resolved, names))
    assert len(chosen) == 3
    assert not set(chosen) & set(names)
    assert next_conditions(resolved, names, performance(resolved, names)) == chosen
    names += chosen
    names += next_conditions(resolved, names, performance(resolved, names))
    assert len(set(names)) == 11
    assert next_conditions(resolved, names, performance(resolved, names)) == []


def test_chosen_points_have_as_many_trials_as_the_others_in_blocks_behind_them(resolved) -> None:
    trials = chosen_blocks(resolved, ["1gbit-250us", "10gbit-250us"], blocks=2, trials=12)
    assert [(trial.block, trial.position) for trial in trials] == [(2, 12), (2, 13), (3, 14), (3, 15)]
    assert {trial.condition for trial in trials} == {"1gbit-250us", "10gbit-250us"}


def test_a_point_that_failed_is_not_chosen_again(resolved) -> None:
    names = sorted({trial.condition for trial in planned(resolved)})
    known = performance(resolved, names)
    failed, *_ = next_conditions(resolved, names, known)
    assert failed not in next_conditions(resolved, [*names, failed], known)


def test_where_everything_failed_nothing_is_chosen(resolved) -> None:
    assert next_conditions(resolved, ["1gbit-0us"], {"1gbit-0us": []}) == []


def test_a_plan_says_how_many_trials_there_can_be(resolved) -> None:
    found = outline(resolved)
    assert (len(found.trials), found.at_most) == (12, 22)
    assert found.adaptive


def test_the_next_point_lies_where_nothing_is_known() -> None:
    places = places_of([{"x": float(x), "y": float(y)} for x in range(9) for y in range(9)])
    left = [i for i, (x, _) in enumerate(places) if x <= 0.5]
    chosen = next_points(places, {i: [float(np.sin(3 * places[i][1]) + places[i][0])] for i in left}, 4)
    assert all(places[i][0] >= 0.875 for i in chosen)


def test_first_points_never_come_twice() -> None:
    places = places_of([{"x": float(x)} for x in range(4)])
    assert sorted(first_points(places, 9)) == [0, 1, 2, 3]
