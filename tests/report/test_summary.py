import dataclasses
import json
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pytest

from crosswind.analysis.answer import answers
from crosswind.analysis.causes import SlowOperations
from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.summarise import summarise
from crosswind.report.page import render
from crosswind.results.documents import Damaged
from crosswind.results.reading import NotAResultsFolder, Results
from crosswind.stats import Interval, NeedsTrials, RatioInterval, RefusedComparison, RefusedInterval
from crosswind.text.units import percent
from synthetic import BASE, CONDITIONS, FAILED, VOID, write_folder


@pytest.fixture(scope="module")
def summary(folder):
    return summarise(folder)


def by_name(summary, name):
    return next(condition for condition in summary.conditions if condition.name == name)


def test_a_condition_is_the_median_over_its_trials_own_quantiles(summary, folder):
    results = Results(folder)
    p99 = []
    for trial in by_name(summary, BASE).trials:
        operations = results.operations(trial.row.trial)
        p99.append(np.quantile(operations.finished_ns - operations.started_ns, 0.99))
    assert by_name(summary, BASE).estimates["latency p99"].estimate == pytest.approx(np.median(p99))


def test_failed_and_void_trials_are_shown_and_not_counted(summary):
    for name, block in (FAILED, VOID):
        condition = by_name(summary, name)
        assert [trial.row.block for trial in condition.trials if not trial.counted] == [block]
        assert condition.estimates["latency p50"].n == 2
    assert (summary.count("failed"), summary.count("void"), summary.count("degraded")) == (1, 1, 1)


def test_a_void_trial_that_was_repeated_is_said_to_be(folder, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    trial = next(t.trial for t in Results(folder).trials if t.fidelity == "void")
    with duckdb.connect() as database:
        database.execute("create table trials as from read_parquet(?)", [str(copy / "trials.parquet")])
        database.execute(
            "insert into trials select * replace "
            f"('{trial}-a2' as trial, 2 as attempt, 'faithful' as fidelity) from trials "
            f"where trial = '{trial}'"
        )
        database.execute(f"copy trials to '{copy / 'trials.parquet'}' (format parquet)")
    (copy / "samples" / f"{trial}.parquet").rename(copy / "samples" / f"{trial}-a2.parquet")
    summary = summarise(copy)
    assert by_name(summary, VOID[0]).estimates["latency p50"].n == 3
    void = next(caution for caution in cautions(summary) if caution.title == "1 attempt void")
    assert "Of 1 trial; 1 succeeded on a later attempt." in void.text
    said = {answer.question: answer for answer in answers(summary)}
    assert "in 30 trials (31 attempts)" in said["What was compared?"].text
    assert said["Can I trust the emulation?"].short == "28 of 31 attempts faithful"


def test_too_few_trials_give_no_interval_but_a_number_of_trials(summary):
    answer = by_name(summary, BASE).estimates["latency p99"]
    assert isinstance(answer, NeedsTrials)
    assert str(answer) == "needs 3 more trials"


@pytest.mark.parametrize("operations", [1, 10])
def test_trials_of_few_operations_have_a_summary_without_the_kinds_that_none_had(
    tmp_path: Path, operations: int
) -> None:
    summary = summarise(write_folder(tmp_path / "run", operations=operations, blocks=1, conditions=2))
    assert [condition.name for condition in summary.conditions] == [BASE, "icpe23/interference"]
    assert all(trial.latency_ns["p50"] > 0 for each in summary.conditions for trial in each.counted)


def test_eight_blocks_give_intervals_and_find_the_policer(tmp_path):
    summary = summarise(write_folder(tmp_path / "run", operations=1500, blocks=8, conditions=3))
    policed = by_name(summary, "icpe23/token-bucket-on-switch")
    assert isinstance(policed.estimates["latency p99"], Interval)
    assert isinstance(policed.ratios["latency p99"], RatioInterval)
    assert policed.ratios["latency p99"].differs
    assert policed.ratios["latency p99"].low > 50
    assert by_name(summary, BASE).ratios == {}


def test_conditions_stand_in_the_order_of_the_experiment(summary):
    assert [c.name for c in summary.conditions] == [c.name for c in summary.resolved.conditions]
    assert summary.baseline == BASE


def test_an_unknown_number_is_none_not_zero(summary):
    failed = next(trial for trial in summary.trials if trial.row.status == "failed")
    assert (failed.operations, failed.slow, failed.retransmissions, failed.values) == (None, None, None, {})
    assert by_name(summary, BASE).interference_bps is None


def test_open_loops_count_the_wait_before_the_start(tmp_path):
    folder = write_folder(tmp_path / "run", operations=1500, blocks=1, conditions=3, rate_per_s=2000)
    summary = summarise(folder)
    policed = by_name(summary, "icpe23/token-bucket-on-switch")
    assert summary.open_loop
    # One stall of 200 ms delays the hundred operations due on its connection meanwhile: more are slow than
    # stalled.
    trial = policed.trials[0]
    operations = Results(folder).operations(trial.row.trial)
    assert trial.slow.slow > 3 * np.sum(operations.finished_ns - operations.started_ns > 100_000_000)
    assert not any(caution.title == "A closed loop hides stalls" for caution in cautions(summary))


def test_the_summary_survives_json(summary):
    plain = json.loads(json.dumps(summary.as_json(), allow_nan=False))
    assert plain["conditions"][0]["estimates"]["latency p99"]["available"] is False
    assert plain["conditions"][0]["estimates"]["latency p99"]["needed"] == 6


def test_trials_without_samples_take_the_stored_quantiles(folder, summary, tmp_path):
    thin = tmp_path / "run"
    shutil.copytree(folder, thin)
    shutil.rmtree(thin / "samples")
    stored = by_name(summarise(thin), BASE)
    assert stored.estimates["latency p99"].estimate == pytest.approx(
        by_name(summary, BASE).estimates["latency p99"].estimate
    )
    assert stored.slow_share.estimate is None


def test_the_latest_run_of_an_experiment_is_taken(folder, tmp_path):
    (tmp_path / "latest").symlink_to(folder)
    assert summarise(tmp_path).name == "icpe23-ycsb-b"


def test_any_other_folder_is_refused_with_what_to_give(tmp_path):
    with pytest.raises(NotAResultsFolder, match=r"no trials\.parquet in it; give the folder of a run"):
        summarise(tmp_path)
    (tmp_path / "trials.parquet").write_text("not parquet")
    with pytest.raises(Damaged, match=r"trials\.parquet: is damaged .*; restore it .*resume"):
        summarise(tmp_path)


def slow_down(path, trials):
    """Make every operation of some trials a second longer."""
    with duckdb.connect() as database:
        for trial in trials:
            file = path / "samples" / f"{trial.trial}.parquet"
            database.execute("create or replace table samples as from read_parquet(?)", [str(file)])
            database.execute("update samples set finished_ns = finished_ns + 1000000000")
            database.execute(f"copy samples to '{file}' (format parquet)")


def test_one_refused_condition_is_named_and_the_others_keep_what_they_have(tmp_path):
    path = write_folder(tmp_path / "run", operations=100, blocks=14, conditions=4)
    rows = Results(path).trials
    last = summarise(path).conditions[-1].name
    slow_down(path, [row for row in rows if row.condition == last and row.block >= 7])
    summary = summarise(path)
    key = summary.primary.key
    kinds = [type(condition.estimates[key]) for condition in summary.conditions]
    assert kinds == [Interval, Interval, Interval, RefusedInterval]
    compared = [type(condition.ratios.get(key)) for condition in summary.conditions]
    assert compared == [type(None), RatioInterval, RatioInterval, RefusedComparison]
    sure = answers(summary)[2]
    assert (sure.short.endswith("of 2 differ"), sure.mood) == (True, "wary")
    assert f"Trials are not independent under {last.split('/')[-1]}, so no interval" in sure.text
    slow_down(path, [row for row in rows if row.condition == BASE and row.block >= 7])
    sure = answers(summarise(path))[2]
    assert (sure.short, sure.mood) == ("Trials are not independent", "bad")
    assert "is the baseline, so nothing can be compared with it" in sure.text


def test_a_difference_is_called_one_where_all_comparisons_leave_it(tmp_path):
    summary = summarise(write_folder(tmp_path / "run", operations=300, blocks=8, conditions=3))
    primary = summary.primary
    _, _, policed = summary.conditions
    assert policed.p[primary.key] < 0.05
    assert policed.verdict(primary) == "worse"
    by_chance = dataclasses.replace(policed, p={primary.key: 0.06})
    assert isinstance(by_chance.ratios[primary.key], RatioInterval)
    assert by_chance.ratios[primary.key].differs
    assert by_chance.verdict(primary) == ""
    summary = dataclasses.replace(summary, conditions=[*summary.conditions[:2], by_chance])
    assert answers(summary)[2].short.startswith("0 of 2 differ")


def test_trials_that_change_their_level_are_refused_with_a_caution(tmp_path):
    path = write_folder(tmp_path / "run", operations=500, blocks=10, conditions=2)
    slow_down(path, [row for row in Results(path).trials if row.block >= 5])
    summary = summarise(path)
    found = by_name(summary, BASE).estimates[summary.primary.key]
    assert isinstance(found, RefusedInterval)
    assert (found.guard.leak, found.guard.change) == ("shift", 5)
    assert isinstance(by_name(summary, "icpe23/interference").ratios[summary.primary.key], RefusedComparison)
    told = next(c for c in cautions(summary) if c.title == "Interval refused under no-interference")
    assert "the level changed after trial 5 of 10" in told.text
    assert "fresh nodes" in told.text
    assert summary.as_json()["conditions"][0]["estimates"][summary.primary.key]["available"] is False
    assert '<span class="interval">refused</span>' in render(Results(path))


def test_cautions_put_what_misleads_first(summary):
    found = cautions(summary)
    levels = [caution.level for caution in found]
    assert levels == sorted(levels, reverse=True)  # serious before note
    titles = {caution.title for caution in found}
    assert {"1 trial failed", "1 trial void", "Too few trials for an interval", "Run at scale 0.1"} <= titles
    assert {"A closed loop hides stalls", "Pictures pool operations"} <= titles
    scale = next(caution for caution in found if caution.title == "Run at scale 0.1")
    assert "burst / buffer" in scale.text


def test_operations_that_were_never_sent_are_a_caution(folder, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    for path in (copy / "monitors").glob("*.json"):
        measurement = json.loads(path.read_text())
        measurement["load"]["not_started"] = 5
        path.write_text(json.dumps(measurement))
    found = cautions(summarise(copy))
    # 28 of 30 trials are counted.
    assert any(c.level == "serious" and c.title == "140 operations were due and never sent" for c in found)


def headline(summary):
    return next(answer.text for answer in answers(summary) if answer.question.startswith("What changed"))


def test_the_headline_has_the_share_of_slow_operations_of_the_table(summary):
    """The median over trials; of all operations together half are slow here."""
    pooled = SlowOperations(operations=100, slow=50)
    conditions = [dataclasses.replace(condition, slow=pooled) for condition in summary.conditions]
    text = headline(dataclasses.replace(summary, conditions=conditions))
    farthest = next(c for c in conditions if text.startswith(f"{c.name.split('/')[1]}:"))
    assert f"{percent(farthest.slow_share.estimate)} of its operations took longer" in text


def test_a_median_that_falls_is_not_called_only_lower_beside_a_tail_that_grows(tmp_path, monkeypatch):
    monkeypatch.setitem(CONDITIONS, BASE, (800.0, 0.0, None))
    text = headline(summarise(write_folder(tmp_path / "run", operations=400, conditions=3)))
    assert "its median 3." in text
    assert "lower" in text
    assert "only" not in text
