"""The network profile of a run whose surface is known: points, elasticities, answers, pictures."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crosswind.analysis.monitored import monitored
from crosswind.analysis.profile import profile_answers, profile_of, sensitivity_of
from crosswind.analysis.profile.fitted import fitted
from crosswind.analysis.summarise import summarise
from crosswind.report import write_report
from crosswind.results.reading import Results
from surfaces import BANDWIDTHS, DELAYS, throughput, write_surface


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_surface(tmp_path_factory.mktemp("surface") / "run")


@pytest.fixture(scope="module")
def surface(run: Path):
    return profile_of(summarise(run))


def answers(folder: Path):
    results = Results(folder)
    summary = summarise(results)
    surface = profile_of(summary)
    return profile_answers(surface, sensitivity_of(surface), monitored(summary, results))


def test_performance_is_a_share_of_the_best_point_with_its_interval(surface) -> None:
    assert surface.complete
    assert surface.best.at == {"bandwidth": 10e9, "delay": 0.0}
    point = surface.point_at(bandwidth=1e9, delay=50e3)
    low, high = surface.interval(point)
    assert low < surface.share(point.value) < high
    assert surface.share(point.value) == pytest.approx(throughput(1e9, 50e3) / throughput(10e9, 0), rel=0.04)


def test_an_axis_is_logarithmic_where_its_levels_span_much_and_has_steps_where_0_is_among_them(
    surface,
) -> None:
    assert [axis.scale for axis in surface.axes] == ["log", "steps"]
    assert [axis.label(axis.levels[1]) for axis in surface.axes] == ["2\u00a0Gbit/s", "10\u00a0us"]


def test_a_step_gains_what_the_surface_gains(surface) -> None:
    bandwidth, delay = sensitivity_of(surface).axes
    last = delay.steps[-1]
    assert (last.worse, last.better) == (10e3, 0.0)
    gain = math.log(throughput(10e9, 0) / throughput(10e9, 10e3))
    assert last.at_best.low < gain < last.at_best.high
    whole = sum(math.log(throughput(10e9, d) / throughput(1e9, d)) for d in DELAYS) / len(DELAYS)
    assert bandwidth.whole.low < whole < bandwidth.whole.high
    assert delay.per == "us"
    assert bandwidth.per == "%"
    assert -0.5 < delay.elasticity.estimate < -0.3


@pytest.mark.parametrize("trials", [3, 6])
def test_intervals_hold_what_is_true_about_as_often_as_they_say(
    surface, trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crosswind.analysis.profile.sensitivity._DRAWS", 400)
    corners = [p for p in surface.points if p.at["delay"] < 50e3]
    true = sum(math.log(throughput(10e9, d) / throughput(1e9, d)) for d in DELAYS[:2]) / 2
    generator = np.random.default_rng(trials)
    held = 0
    for _ in range(150):
        points = [
            replace(p, logs=math.log(throughput(**p.at)) + generator.normal(scale=0.02, size=trials))
            for p in corners
        ]
        whole = sensitivity_of(replace(surface, points=points)).axes[0].whole
        held += whole.low <= true <= whole.high
    # Of many some 95 %; three standard deviations of a share of 150 are 5 %.
    assert held / 150 >= 0.90


def test_the_three_questions_are_answered_with_numbers(run: Path) -> None:
    bound, used, helps = answers(run)
    assert bound.short == "Yes, by bandwidth and delay"
    assert "10\u00a0us to 0\u00a0us, gave +1" in bound.text
    # 8 us of 108 us on the wire are 7 %, in four connections 29 %.
    assert used.short.startswith(("29", "30"))
    assert "idle for 7" in used.text
    # With 500 us and 10 Gbit/s 8 us of 1108 are on the wire.
    assert "Over all conditions the average lies between 2." in used.text
    assert helps.short == "Less delay"
    assert re.search(r"\u22120\.4\d+\u00a0% for each us \(\u22120\.\d+ to", helps.text)


def test_without_monitors_the_answer_says_what_to_add(tmp_path: Path) -> None:
    _, used, _ = answers(write_surface(tmp_path / "run", 2, monitors=False))
    assert used.short == "Not measured"
    assert "monitor: {what: [utilisation]}" in used.text


def test_one_trial_of_a_condition_gives_no_interval_and_decides_nothing(tmp_path: Path) -> None:
    folder = write_surface(tmp_path / "run", 1, monitors=False)
    bound, _, helps = answers(folder)
    assert (bound.short, helps.short) == ("Undecided", "Undecided")
    assert "so there is no interval" in helps.text
    assert " to +" not in helps.text


def test_what_rests_on_a_refused_point_has_no_interval_and_the_rest_keeps_its_own(surface) -> None:
    axis = surface.axes[0]
    worst, *_ = surface.towards_better(axis)
    points = [replace(point, refused=point.at[axis.name] == worst) for point in surface.points]
    found = sensitivity_of(replace(surface, points=points)).axes[0]
    first, *others = found.steps
    assert (first.average.low, found.whole.low, found.elasticity.low) == (None, None, None)
    assert others
    assert all(step.average.low is not None for step in others)


def test_points_that_are_no_grid_have_slopes_and_no_steps(tmp_path: Path) -> None:
    points = [(1e9, 0.0), (2e9, 200e3), (4e9, 10e3), (10e9, 500e3), (3e9, 100e3), (7e9, 50e3)]
    folder = write_surface(tmp_path / "run", 6, points=points, monitors=False)
    found = sensitivity_of(profile_of(summarise(folder)))
    assert [axis.steps for axis in found.axes] == [[], []]
    assert found.most is not None
    assert found.most.axis.name == "delay"
    assert 'id="figure-profile-surface"' in write_report(folder).read_text()


def test_between_the_points_of_an_adaptive_design_the_fitted_surface_is_drawn(tmp_path: Path) -> None:
    # Every second point of the grid, as a chessboard has them.
    grid = [(bandwidth, delay) for bandwidth in BANDWIDTHS for delay in DELAYS]
    points = grid[::2]
    folder = write_surface(tmp_path / "run", 6, points=points, monitors=False)
    found = profile_of(summarise(folder))
    rows = fitted(found)
    assert rows.shape == (len(DELAYS), len(BANDWIDTHS))
    best = throughput(*max(points, key=lambda point: throughput(*point)))
    for bandwidth, delay in set(grid) - set(points):
        expected = rows[DELAYS.index(delay), BANDWIDTHS.index(bandwidth)]
        assert expected == pytest.approx(throughput(bandwidth, delay) / best, rel=0.15)
    page = write_report(folder).read_text()
    drawn = json.loads(re.search(r'id="figure-data">(.*?)</script>', page, re.DOTALL)[1])
    surface, contour = drawn["profile-surface"]["data"], drawn["profile-contour"]["data"]
    assert [trace["type"] for trace in surface] == ["surface", "scatter3d"]
    assert [trace["type"] for trace in contour] == ["contour", "scatter"]
    assert "by the fit, not measured" in json.dumps(surface)
    assert "fitted (Gaussian process)" in page


def test_two_trials_are_no_surface(surface) -> None:
    alone = [replace(point, logs=point.logs[:1]) for point in surface.points[:2]]
    assert fitted(replace(surface, points=alone)) is None


def test_what_is_better_when_lower_performs_inversely(tmp_path: Path) -> None:
    folder = write_surface(tmp_path / "run", 6, monitors=False)
    resolved = json.loads((folder / "resolved.json").read_text())
    figures = [figure for figure in resolved["application"]["figures"] if figure["better"] == "lower"]
    resolved["application"]["figures"] = figures
    (folder / "resolved.json").write_text(json.dumps(resolved))
    surface = profile_of(summarise(folder))
    assert surface.measure.better == "lower"
    point = surface.point_at(bandwidth=1e9, delay=500e3)
    assert surface.share(point.value) == pytest.approx(throughput(1e9, 500e3) / throughput(10e9, 0), rel=0.05)
    low, high = surface.interval(point)
    assert low < surface.share(point.value) < high


def test_the_page_has_the_profile_and_pages_of_runs_without_factors_do_not(run: Path, folder: Path) -> None:
    page = write_report(run).read_text()
    figures = json.loads(re.search(r'id="figure-data">(.*?)</script>', page, re.DOTALL)[1])
    wanted = {"surface", "contour", "cut-0", "cut-1"}
    assert {f"profile-{each}" for each in wanted} <= set(figures)
    along = {"along-utilisation-0", "along-burst-packets-0", "along-packet-size-0"}
    assert {key for key in figures if key.startswith("along-")} == along
    # The monitor is the second element where the delay is 0, and the third elsewhere: it stays one monitor.
    assert len(figures["along-utilisation-0"]["data"][0]["y"]) == len(DELAYS)
    assert len(figures["along-packet-size-0"]["data"]) == len(DELAYS)
    assert 'href="#profile"' in page
    assert 'id="profile"' not in write_report(folder).read_text()
