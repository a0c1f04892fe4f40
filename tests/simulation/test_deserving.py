"""`crosswind plan FILE --simulated FOLDER`: which simulated conditions deserve a real trial."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench.sweeps import grid, resolved_grid
from crosswind.cli._main import group
from crosswind.errors import CrosswindError
from crosswind.plan import planned
from crosswind.results import Metric
from crosswind.simulation.sweep import SweepFolder
from crosswind.simulation.sweep.deserving import Simulated, chosen
from crosswind.simulation.sweep.part import SweptTrial

GRID = {f"a{a}-b{b}": {"a": float(a), "b": float(b)} for a in range(5) for b in range(5)}


def simulated(
    name: str, effect: float | None = 1.0, spread: float | None = 1.0, timeouts: float | None = 0.0
) -> Simulated:
    value = None if effect is None else 100 * effect
    return Simulated(name, 3, None, value, effect, spread, timeouts)


def names(found: list[Simulated], at_most: int, levels: dict[str, dict[str, float]] = GRID) -> list[str]:
    every = {"none": {}, **levels}
    return [f"{each.of.condition}: {each.why}" for each in chosen(found, every, "none", at_most)]


def test_three_reasons_take_turns() -> None:
    found = [
        simulated("a0-b0", effect=3.0),
        simulated("a0-b4", effect=0.1),  # Ten times less is more than three times more.
        simulated("a4-b0", spread=1.5, timeouts=0.1),
        simulated("a4-b4", timeouts=0.2),
    ]
    assert names(found, 9) == [
        "a0-b4: largest effect",
        "a4-b0: largest spread",
        "a4-b4: most timeouts",
        "a0-b0: largest effect",
    ]
    assert len(names(found, 2)) == 2


def test_neighbours_in_the_grid_are_passed_over() -> None:
    # Each has an effect of its own.
    found = [simulated(name, effect=2 + levels["a"] + 1.1 * levels["b"]) for name, levels in GRID.items()]
    chosen_names = names(found, 25)
    assert chosen_names[:3] == [f"{name}: largest effect" for name in ("a4-b4", "a2-b4", "a4-b2")]
    # Of five levels each, at most three are not next to another.
    assert len(chosen_names) == 9


def test_a_factor_without_effect_does_not_fill_the_list() -> None:
    found = [simulated(name, effect=2.0 + levels["a"]) for name, levels in GRID.items()]
    # One for each of the five effects, whatever b is.
    assert [name[:2] for name in names(found, 25)] == ["a4", "a3", "a2", "a1", "a0"]


def test_levels_that_are_text_have_no_neighbours() -> None:
    levels = {name: {"kind": name} for name in ("fifo", "codel", "pie")}
    found = [simulated(name, effect=2.0 + number) for number, name in enumerate(levels)]
    assert len(names(found, 9, levels)) == 3


def test_a_baseline_what_changes_nothing_and_what_is_unknown_are_not_chosen() -> None:
    found = [
        simulated("none", spread=2.0),
        simulated("a0-b0", effect=1.005, spread=1.005),
        simulated("a4-b4", effect=None, spread=None, timeouts=None),
    ]
    assert names(found, 9) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An experiment, and a sweep that is not complete."""
    (tmp_path / "grid.yaml").write_text(grid(2, repeat=2))
    resolved = resolved_grid(2, repeat=2)
    store = SweepFolder.made_for(tmp_path / "s", resolved)
    trials = [trial for trial in planned(resolved) if trial.condition != "0.1pct-1us"]
    slow = {"5pct-100ms": 900e6, "5pct-1us": 300e6}

    def swept(index: int) -> SweptTrial:
        trial = trials[index]
        if trial.condition == "5pct-46.4us":
            return SweptTrial(trial, "nothing passes", [])
        p99_ns = slow.get(trial.condition, 20e6) * (1 + trial.block)
        metrics = [("latency", "ns", "p99", p99_ns), ("timeouts", "count", "count", 5.0)]
        metrics += [("operations", "count", "count", 1000.0)]
        return SweptTrial(trial, None, [Metric("client", *each) for each in metrics])

    store.store(1, [swept(index) for index in range(len(trials))], resolved)
    return tmp_path


def plan(*arguments: object) -> Result:
    result = CliRunner().invoke(group, ["plan", *map(str, arguments)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result


def test_a_ranking_says_what_each_condition_does(folder: Path) -> None:
    found = json.loads(plan(folder / "grid.yaml", "--simulated", folder / "s", "--json").output)
    assert (found["baseline"], found["missing"]) == ("none", 1)
    (worst,) = [each for each in found["conditions"] if each["condition"] == "5pct-100ms"]
    # Medians of two trials: 900 and 1800 ms, against 20 and 40 ms.
    assert worst == {
        "condition": "5pct-100ms",
        "trials": 2,
        "refused": None,
        "value": 1350e6,
        "effect": 45.0,
        "spread": 2.0,
        "timeouts": 0.005,
    }
    assert found["chosen"][0] == {"condition": "5pct-100ms", "why": "largest effect"}


def test_a_ranking_ends_with_the_command_that_runs_it(folder: Path) -> None:
    said = plan(folder / "grid.yaml", "--simulated", folder / "s", "--at-most", 1).output
    assert "20 conditions simulated with 2 trials each, 1 not yet; the baseline is none" in said
    assert "1 conditions could not be simulated, such as 5pct-46.4us: nothing passes" in said
    assert said.rstrip().endswith("--once --only none --only 5pct-100ms")


def test_a_sweep_of_another_experiment_is_not_ranked(folder: Path) -> None:
    (folder / "grid.yaml").write_text(grid(3, repeat=2))
    with pytest.raises(CrosswindError, match="whose conditions differ"):
        plan(folder / "grid.yaml", "--simulated", folder / "s")


def test_a_sweep_without_trials_says_how_to_simulate(folder: Path) -> None:
    SweepFolder.made_for(folder / "empty", resolved_grid(2, repeat=2))
    with pytest.raises(CrosswindError, match="has no trials yet; simulate them with `crosswind simulate"):
        plan(folder / "grid.yaml", "--simulated", folder / "empty")
