"""What readers see of ranges: figures for which a degraded trial is faithful, and those that moved."""

import io
import shutil

import duckdb
import pytest
from rich.console import Console

from crosswind.analysis.answer import answers
from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.measure import OVER_100_MS
from crosswind.analysis.moved import faithful_for, meet, moved, widened
from crosswind.analysis.summarise import summarise
from crosswind.report import print_table
from crosswind.report.page import render
from crosswind.report.paper_table import paper_table
from crosswind.results.ranges import Range
from crosswind.results.reading import Results
from crosswind.stats import NeedsTrials
from synthetic import DEGRADED, write_folder


def with_ranges(folder, ends):
    """Give metrics of a folder ranges: statistic -> SQL for its low end; the high one is the value."""
    metrics = folder / "metrics.parquet"
    low = " ".join(f"when '{statistic}' then {end}" for statistic, end in ends.items())
    with duckdb.connect() as database:
        database.execute(
            f"copy (select *, case statistic {low} else value end as low, value as high from '{metrics}') "
            f"to '{metrics}.new' (format parquet)"
        )
    metrics.with_suffix(".parquet.new").replace(metrics)
    return summarise(folder)


@pytest.fixture(scope="module")
def ranged(tmp_path_factory):
    """Eight blocks of two conditions. A stall may have moved P99 and P99.9 of one trial, and not its P50."""
    folder = write_folder(tmp_path_factory.mktemp("ranges") / "run", operations=400, blocks=8, conditions=2)
    trials, metrics = folder / "trials.parquet", folder / "metrics.parquet"
    with duckdb.connect() as database:
        database.execute(f"create table trials as from '{trials}'")
        database.execute(f"create table metrics as from '{metrics}'")
        (stalled,) = database.execute(
            "select trial from trials where condition not like '%no-%' order by 1"
        ).fetchone()
        database.execute(
            "update trials set fidelity = 'degraded', fidelity_reason = 'stood still' where trial = ?",
            [stalled],
        )
        database.execute(
            "insert into metrics (trial, node, metric, unit, statistic, value) "
            "select trial, 'client', 'slow', 'share', 'share', 0.2 from trials"
        )
        database.execute(f"copy trials to '{trials}' (format parquet)")
        low = f"if(trial = '{stalled}' and statistic in ('p99', 'p999', 'share'), value / 2, value)"
        database.execute(
            f"copy (select *, {low} as low, value as high from metrics) to '{metrics}' (format parquet)"
        )
    return folder, stalled


def test_a_median_is_not_lost_because_a_tail_is(ranged):
    folder, stalled = ranged
    summary = summarise(folder)
    condition = next(c for c in summary.conditions for t in c.trials if t.row.trial == stalled)
    trial = next(t for t in condition.trials if t.row.trial == stalled)
    labels = [measure.label for measure in faithful_for(condition, trial, summary.measures)]
    assert "P50" in labels
    assert "P95" in labels
    assert "P99" not in labels
    assert OVER_100_MS.label not in labels
    untouched = next(t for t in condition.counted if t is not trial)
    assert not moved(condition, untouched, OVER_100_MS)
    p99 = next(measure for measure in summary.measures if measure.label == "P99")
    assert trial.ranges[p99.key].low == pytest.approx(trial.ranges[p99.key].high / 2)
    assert [moved(condition, t, p99) for t in condition.counted] == [t is trial for t in condition.counted]


def test_table_report_and_warning_name_the_figures(ranged):
    folder, _ = ranged
    stream = io.StringIO()
    print_table(folder, Console(file=stream, width=250))
    lines = [line.rstrip().rpartition("   ")[2].strip() for line in stream.getvalue().splitlines()]
    figures = lines.index("P50, P95, throughput:")
    assert lines[figures + 1] == "7 faithful each"
    page = render(Results(folder))
    assert "Faithful for P50, P95" in page
    assert "Without this machine" in page
    assert "it may have been 10\u00a0% to 20\u00a0%." in page
    degraded = next(caution for caution in cautions(summarise(folder)) if caution.id == "trials-degraded")
    assert "Faithful all the same: P50 (1), P95 (1)" in degraded.text


def test_a_warning_says_how_far_ranges_widen_an_interval(ranged, tmp_path):
    folder, _ = ranged
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    metrics = copy / "metrics.parquet"
    with duckdb.connect() as database:
        database.execute(f"create table metrics as from '{metrics}'")
        database.execute("update metrics set low = value / 4 where statistic = 'p99'")
        database.execute(f"copy metrics to '{metrics}' (format parquet)")
    summary = summarise(copy)
    p99 = next(measure for measure in summary.measures if measure.label == "P99")
    condition = summary.conditions[0]
    wide, own = widened(condition, p99), condition.estimates[p99.key]
    assert (wide.low, wide.high) == (pytest.approx(own.low / 4), own.high)
    (warning,) = (caution for caution in cautions(summary) if caution.id == "ranges-widen")
    assert warning.title.startswith("The machine may have moved P99")
    assert "P99: " in warning.text


def test_without_an_interval_only_a_range_without_width_is_faithful(tmp_path):
    """Two degraded trials of three lie far apart: from the least to the greatest value is no interval."""
    folder = write_folder(tmp_path / "run", operations=100, blocks=3, conditions=2)
    trials = folder / "trials.parquet"
    with duckdb.connect() as database:
        database.execute(f"create table trials as from '{trials}'")
        database.execute("update trials set fidelity = 'degraded', fidelity_reason = 'late' where block < 2")
        database.execute(f"copy trials to '{trials}' (format parquet)")
    # A thousandth of the value: far less than 1 % of what noise lays between these trials.
    summary = with_ranges(folder, {"p99": "value * 0.999"})
    condition = summary.conditions[0]
    assert isinstance(condition.estimates[summary.primary.key], NeedsTrials)
    degraded = [trial for trial in condition.counted if trial.row.fidelity == "degraded"]
    assert len(degraded) == 2
    for trial in degraded:
        labels = [measure.label for measure in faithful_for(condition, trial, summary.measures)]
        assert "P99" not in labels
        assert "P50" in labels


def differs(summary):
    return next(answer for answer in answers(summary) if answer.question.startswith("What changed"))


def test_the_headline_names_no_change_that_the_machine_alone_may_have_made(tmp_path):
    """Three trials have no interval. P50 and P99 beside the neighbour are some 1.6 times the baseline's."""
    folder = write_folder(tmp_path / "run", operations=100, blocks=3, conditions=2)
    apart = differs(with_ranges(folder, {"p50": "value * 0.999", "p99": "value * 0.999"}))
    assert " higher" in apart.short
    assert "its median " in apart.text
    assert "these ranges meet" not in apart.text
    assert "ranges meet" not in paper_table(summarise(folder), "markdown")
    folder = write_folder(tmp_path / "moved", operations=100, blocks=3, conditions=2)
    meeting = differs(with_ranges(folder, {"p50": "value / 4", "p99": "value / 4"}))
    assert meeting.short == "P99 may differ only because of this machine"
    assert "these ranges meet; the machine may have moved its median: " in meeting.text
    assert "higher" not in meeting.text
    summary = summarise(folder)
    stream = io.StringIO()
    print_table(folder, Console(file=stream, width=250))
    assert "ranges meet" in stream.getvalue()
    assert "(ranges meet) |" in paper_table(summary, "markdown")
    assert ">ranges meet</span>" in render(Results(folder))


def test_a_change_with_an_interval_is_named_although_the_machine_moved_trials(tmp_path):
    folder = write_folder(tmp_path / "run", operations=100, blocks=8, conditions=2)
    answer = differs(with_ranges(folder, {"p99": "value / 4"}))
    assert " higher" in answer.short
    assert "these ranges meet" in answer.text


def test_ranges_without_width_do_not_meet():
    """Equal values that no machine moved are the same, and not in doubt."""
    assert not meet(Range(3.0, 3.0), Range(3.0, 3.0))
    assert meet(Range(3.0, 4.0), Range(4.0, 4.0))
    assert not meet(Range(3.0, 4.0), Range(4.1, 5.0))


def test_a_folder_without_ranges_is_as_its_verdicts_say(folder):
    summary = summarise(folder)
    condition = next(c for c in summary.conditions if c.name == DEGRADED[0])
    degraded = [trial for trial in condition.counted if trial.row.fidelity == "degraded"]
    assert [faithful_for(condition, trial, summary.measures) for trial in degraded] == [[]]
    faithful = next(trial for trial in condition.counted if trial.row.fidelity == "faithful")
    assert faithful_for(condition, faithful, summary.measures) == summary.measures
