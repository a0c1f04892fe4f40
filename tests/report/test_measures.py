"""Applications whose results are not single operations: their figures are what a report shows."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from test_report_text import printed

from crosswind.analysis.answer import answers
from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.measure import Measure, measures_of
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Summary
from crosswind.report import write_report
from crosswind.report.measure_figures import measure_figures
from crosswind.report.strip import axis
from crosswind.spec.resolved import ResolvedFigure
from crosswind.stats import Interval, NeedsTrials, PerTrial, RatioInterval, guard
from crosswind.text.units import quantity
from jobs import FIGURES, write_jobs

JOB_TIME = "job.time value"
RATE = "rate mean"


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jobs(tmp_path_factory.mktemp("results") / "run")


@pytest.fixture(scope="module")
def summary(jobs: Path) -> Summary:
    return summarise(jobs)


def test_the_first_figure_is_what_conditions_are_compared_by(summary: Summary) -> None:
    baseline, full, empty = summary.conditions
    assert [measure.label for measure in summary.measures] == [figure["label"] for figure in FIGURES]
    assert summary.primary.key == JOB_TIME
    assert isinstance(baseline.estimates[JOB_TIME], Interval)
    assert baseline.ratios == {}
    slower = empty.ratios[JOB_TIME]
    assert isinstance(slower, RatioInterval)
    # 71 s against 24 s.
    assert slower.low < 71 / 24 < slower.high
    assert summary.primary.verdict(slower) == "worse"
    assert summary.primary.verdict(full.ratios[JOB_TIME]) == ""


def test_a_figure_is_added_up_over_nodes(summary: Summary) -> None:
    assert summary.trials[0].values["shuffle sum"] == 463e6


def test_less_of_what_should_be_high_is_worse(summary: Summary) -> None:
    rate = next(measure for measure in summary.measures if measure.key == RATE)
    less = summary.conditions[2].ratios[RATE]
    assert isinstance(less, RatioInterval)
    assert less.high < 1
    assert rate.verdict(less) == "worse"


def test_a_figure_that_is_zero_has_no_ratio_and_breaks_nothing(summary: Summary) -> None:
    assert "lost count" not in summary.conditions[1].ratios
    assert summary.conditions[1].estimates["lost count"].estimate == 0


def test_few_trials_say_how_many_are_needed(tmp_path: Path) -> None:
    few = summarise(write_jobs(tmp_path / "run", blocks=3))
    assert isinstance(few.conditions[0].estimates[JOB_TIME], NeedsTrials)
    assert "an interval needs 6 trials" in printed(few.folder)
    assert "needs 3 more" in write_report(few.folder).read_text()


def test_trials_that_lack_a_figure_are_told_of(tmp_path: Path) -> None:
    lacking = summarise(write_jobs(tmp_path / "run", without="job.time"))
    found = {caution.title: caution for caution in cautions(lacking)}
    assert found["1 trial without job time"].level == "serious"
    assert lacking.conditions[0].estimates[JOB_TIME].n == 5


def test_nothing_is_said_of_operations_that_there_are_none_of(summary: Summary, jobs: Path) -> None:
    said = " ".join(answer.short + answer.text for answer in answers(summary))
    assert "job time" in said
    assert "operation" not in said
    assert "operation" not in " ".join(caution.text for caution in cautions(summary))
    page = write_report(jobs).read_text()
    assert 'id="tail"' not in page
    figures = json.loads(page.split('id="figure-data">')[1].split("</script>")[0])
    assert set(figures) == {f"measure-{place}" for place in range(4)}


def test_dots_stand_in_the_order_of_the_trials_and_are_named(summary: Summary) -> None:
    first, *_ = measure_figures(summary)
    data = first.spec["data"]
    dots = [trace for trace in data if trace["type"] == "scatter"]
    for row, (trace, condition) in enumerate(zip(dots, summary.conditions, strict=True)):
        assert trace["customdata"] == [trial.row.trial for trial in condition.counted]
        assert trace["y"] == sorted(trace["y"])
        assert row - 0.5 < trace["y"][0] < row < trace["y"][-1] < row + 0.5
    # The first condition is on top.
    assert first.spec["layout"]["yaxis"]["range"] == [len(dots) - 0.5, -0.5]


def test_one_condition_has_no_column_of_ratios(summary: Summary) -> None:
    assert summary.ratio_after == summary.primary
    assert replace(summary, conditions=summary.conditions[:1]).ratio_after is None


def test_intervals_that_grew_are_told_of_together(tmp_path: Path) -> None:
    run = summarise(write_jobs(tmp_path / "run", blocks=12))
    # Six that lie together, and six that lie apart around them.
    values_s = [10, 10.1, 9.9, 10.05, 9.95, 10.02, 8, 12.5, 11.5, 8.5, 12, 9]
    seen = guard(PerTrial.numbered([1e9 * value_s for value_s in values_s]))
    grown = [replace(condition, guards={**condition.guards, JOB_TIME: seen}) for condition in run.conditions]
    titles = [caution.title for caution in cautions(replace(run, conditions=grown))]
    assert "More trials did not help under none, nsdi20/full-bucket, nsdi20/empty-bucket" in titles


def test_the_table_has_every_figure_in_a_unit_for_people(jobs: Path) -> None:
    text = printed(jobs)
    row = next(line for line in text.splitlines() if line.startswith("nsdi20/empty-bucket"))
    # s, a change, MB and Mbit/s; the last two are those of a shuffle of 463 MB in 71 s.
    assert [row.split()[at] for at in (1, 2, 5, 6)] == ["70.6", "2.95", "463", "52.5"]
    assert all(unit in text for unit in (" s ", "MB", "Mbit/s"))
    assert "Lower job time is better." in text


def test_a_narrow_terminal_keeps_the_answer_and_leaves_the_rest_to_the_report(jobs: Path) -> None:
    text = printed(jobs, width=66, force_terminal=True, color_system=None)
    assert "job time vs" in text
    assert "6 faithful" in text
    assert "Too narrow for: shuffle" in text
    assert all(len(line) <= 66 for line in text.splitlines())


def test_strips_have_round_numbers_where_values_lie_together(summary: Summary) -> None:
    scale = axis(summary)
    assert scale is not None
    assert not scale.logarithmic
    # 23 s to 72 s: steps of 20 s.
    assert scale.ticks == (20e9, 40e9, 60e9, 80e9)


def test_a_quantile_of_operations_brings_its_neighbours_that_trials_have() -> None:
    figures = [
        ResolvedFigure(metric="rate", statistic="mean", unit="1/s", label="rate", better="higher"),
        ResolvedFigure(metric="latency", statistic="p99", unit="ns", label="P99", better="lower"),
    ]
    stored = {("latency", "p50"), ("latency", "p99"), ("latency", "mean"), ("response", "p95")}
    found = [measure.label for measure in measures_of(figures, stored, open_loop=False)]
    assert found == ["rate", "P50", "P99"]


def test_folders_from_before_figures_show_what_they_showed(folder: Path, tmp_path: Path) -> None:
    assert "figures" not in json.loads((folder / "resolved.json").read_text())["application"]
    old = summarise(folder)
    assert [m.label for m in old.measures] == ["P50", "P95", "P99", "P99.9", "throughput"]
    assert old.primary == Measure("latency", "p99", "ns", "P99", "lower")
    named = tmp_path / "run"
    shutil.copytree(folder, named)
    resolved = json.loads((named / "resolved.json").read_text())
    resolved["application"]["figures"] = [
        {"metric": "latency", "statistic": "p99", "unit": "ns", "label": "P99", "better": "lower"},
        {
            "metric": "throughput",
            "statistic": "mean",
            "unit": "1/s",
            "label": "throughput",
            "better": "higher",
        },
    ]
    (named / "resolved.json").write_text(json.dumps(resolved))
    assert summarise(named).conditions[2].estimates == old.conditions[2].estimates


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (24.1e9, "ns", "24.1 s"),
        (1.25e8, "bit/s", "125 Mbit/s"),
        (1.25e9, "B/s", "1.25 GB/s"),
        (6.7e11, "flop/s", "670 Gflop/s"),
        (4.63e8, "B", "463 MB"),
        (512.3, "1/s", "512 per second"),
        (2.4e7, "1/s", "24.0 million/s"),
        (0.0, "count", "0"),
        (39.0, "count", "39"),
        (38.5, "count", "38.5"),
        (0.853, "1", "0.853"),
        (12, "rpm", "12.0 rpm"),
        (None, "ns", "-"),
    ],
)
def test_every_unit_of_a_metric_is_shown_as_people_say_it(value: float | None, unit: str, text: str) -> None:
    assert quantity(value, unit).replace("\u00a0", " ") == text
