from dataclasses import replace

import numpy as np
import pytest

from crosswind.analysis import OF_SHARES, Question, Samples, analyse, own_quantile, read_samples, run_samples
from crosswind.analysis.analysis import PoolingRefused
from crosswind.cli._main import run
from crosswind.curves import BucketHistory
from crosswind.errors import CrosswindError
from crosswind.stats import (
    Interval,
    NeedsTrials,
    RatioInterval,
    RefusedComparison,
    RefusedInterval,
    ShiftInterval,
    quantile,
)


def samples(tmp_path, rows, **arguments):
    path = tmp_path / "x.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return read_samples(path, **arguments)


def test_a_column_of_trials_has_its_interval_and_what_it_lacks(tmp_path):
    rows = [("ms",), *((i,) for i in (7, 3, 10, 5, 1, 12, 6, 9, 2, 8, 11, 4))]
    (group,) = analyse(samples(tmp_path, rows), Question()).groups
    median, p90, _ = group.quantiles.values()
    assert isinstance(median, Interval)
    assert (median.low, median.high) == (3, 10)  # ranks of n = 12
    assert isinstance(p90, NeedsTrials)
    assert p90.more == 36 - 12
    assert group.repetitions.needed is None
    assert group.guard.verdict == "clear"


def test_trials_that_drift_have_no_interval_unless_their_order_means_nothing(tmp_path):
    rows = [("net", "ms"), *(("none", value) for value in (5.0, 5.2, 4.9, 5.1, 5.3, 4.8, 5.05, 5.15))]
    rows += [("worn", 9 + trial) for trial in range(8)]
    found = samples(tmp_path, rows, by=["net"])
    analysis = analyse(found, Question())
    none, worn = analysis.groups
    assert isinstance(none.quantiles[0.5], Interval)
    assert isinstance(worn.quantiles[0.5], RefusedInterval)
    assert (worn.guard.refused, worn.repetitions) == (True, None)
    (comparison,) = analysis.comparisons
    assert isinstance(comparison.difference, RefusedComparison)
    assert not comparison.shown
    (comparison,) = analyse(found, Question(ordered=False)).comparisons
    assert isinstance(comparison.difference, RatioInterval)
    assert comparison.shown


def test_rows_of_one_trial_are_never_taken_for_trials(tmp_path):
    rows = [("trial", "ms"), *((trial, trial + row / 10) for trial in range(8) for row in range(5))]
    with pytest.raises(PoolingRefused, match="40 rows come from 8 trials"):
        analyse(samples(tmp_path, rows), Question())
    (group,) = analyse(samples(tmp_path, rows), Question(each=own_quantile(0.99))).groups
    assert group.rows == 40
    assert group.trials.values == tuple(quantile([t + row / 10 for row in range(5)], 0.99) for t in range(8))


def test_shares_are_judged_within_each_trial_and_groups_told_apart_by_several_columns(tmp_path):
    rows = [("run", "net", "streams", "mbps"), (1, "a", 2, 1), (1, "a", 2, 3), (2, "a", 2, 3), (2, "a", 2, 1)]
    rows += [(3, "a", 3, 2)] * 3
    found = samples(tmp_path, rows, by=["net", "streams"], column="mbps")
    analysis = analyse(found, Question(each=OF_SHARES["jain"]))
    assert (analysis.by, analysis.each) == ("net, streams", "jain")
    values = {group.name: group.trials.values for group in analysis.groups}
    assert values == {"a, 2": pytest.approx((0.8, 0.8)), "a, 3": pytest.approx((1,))}
    two = analyse(found, Question(each=OF_SHARES["sd"])).groups[0]
    assert two.trials.values == (1, 1)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(1, 5), (1, 6), (2, 5)], "trials have 1 to 2 rows"),
        ([(1, 5), (1, -6)], "mbps has -6; a share is neither"),
        ([(1, 5), (1, "inf")], "mbps has inf; a share is neither"),
        ([(1, 5), (2, 6)], r"every trial \(column run\) has one row"),
    ],
)
def test_what_is_no_share_is_refused(tmp_path, rows, words):
    with pytest.raises(CrosswindError, match=words):
        analyse(samples(tmp_path, [("run", "mbps"), *rows]), Question(each=OF_SHARES["jain"]))


def test_pooled_rows_are_described_without_intervals(tmp_path):
    rows = [("trial", "ms"), *((trial, trial + row / 10) for trial in range(8) for row in range(5))]
    (group,) = analyse(samples(tmp_path, rows), Question(pool=True)).groups
    assert (group.trials, group.repetitions) == (None, None)
    assert group.quantiles[0.5] == quantile([t + row / 10 for t in range(8) for row in range(5)], 0.5)


def test_trials_of_one_row_each_need_no_word_about_pooling(tmp_path):
    analysis = analyse(
        samples(tmp_path, [("trial", "ms"), *((i, i) for i in range(6))]), Question(each=own_quantile(0.99))
    )
    assert analysis.each is None


def test_groups_are_compared_with_the_first_and_corrected_together(tmp_path):
    random = np.random.default_rng(1)
    scales = {"none": 1, "slow": 2, "same": 1}
    rows = [(name, scales[name] * random.lognormal(sigma=0.05)) for name in scales for _ in range(10)]
    analysis = analyse(samples(tmp_path, [("net", "ms"), *rows], by=["net"]), Question())
    slow, same = analysis.comparisons
    assert (slow.baseline, slow.name, slow.shown, same.shown) == ("none", "slow", True, False)
    assert isinstance(slow.difference, RatioInterval)
    assert slow.difference.low < 2 < slow.difference.high
    assert slow.p_holm == pytest.approx(2 * slow.test.p)
    assert analysis.overall.p < 0.001
    turned = analyse(samples(tmp_path, [("net", "ms"), *rows], by=["net"]), Question(baseline="slow"))
    assert [comparison.name for comparison in turned.comparisons] == ["none", "same"]


def test_values_around_zero_have_differences_and_no_ratio(tmp_path):
    rows = [("net", "x"), *(("a", i - 3) for i in range(8)), *(("b", i + 20) for i in range(8))]
    analysis = analyse(samples(tmp_path, rows, by=["net"]), Question(ordered=False))
    assert isinstance(analysis.comparisons[0].difference, ShiftInterval)
    assert (analysis.groups[0].variation, analysis.groups[0].repetitions) == (None, None)


def test_what_never_ended_is_compared_by_rank(tmp_path):
    rows = [("net", "ms"), *(("a", i) for i in range(1, 9)), *(("b", "inf") for _ in range(8))]
    comparison = analyse(samples(tmp_path, rows, by=["net"]), Question()).comparisons[0]
    assert comparison.difference is None
    assert (comparison.shown, comparison.test.a12) == (True, 1)


def test_wishes_that_do_not_fit_the_file_are_refused(tmp_path):
    found = samples(tmp_path, [("ms",), (1,), (2,)])
    with pytest.raises(CrosswindError, match="name the column of the trials with --trial"):
        analyse(found, Question(each=own_quantile(0.99)))
    with pytest.raises(CrosswindError, match='no group "x"'):
        analyse(found, Question(baseline="x"))


def test_ten_million_rows_are_operations_and_can_be_described(tmp_path):
    rows = 10_000_000
    found = Samples(
        "x.csv", "ms", None, None, ("",), np.arange(rows, dtype=float), np.zeros(rows, dtype=int), (), None
    )
    with pytest.raises(PoolingRefused, match=r"10000000 values: too many for trials.*--pool"):
        analyse(found, Question())
    assert analyse(found, Question(pool=True)).groups[0].rows == rows


def test_a_run_is_read_as_a_value_a_trial_by_condition(base):
    found = run_samples(base)
    assert (found.by, found.groups, found.column) == ("condition", ("none", "slow"), "job time, s")
    analysis = analyse(found, Question())
    assert [len(group.trials) for group in analysis.groups] == [8, 8]
    assert analysis.comparisons[0].shown
    assert run_samples(base, "Job Time").values.tolist() == found.values.tolist()
    with pytest.raises(CrosswindError, match='no number "job tame"; did you mean "job time"'):
        run_samples(base, "job tame")


def test_what_fewer_trials_would_have_said_is_asked_of_many_trials_only(tmp_path):
    values = np.random.default_rng(5).lognormal(size=50).tolist()
    rows = [("net", "ms"), *(("many", value) for value in values), *(("few", value) for value in values[:19])]
    many, few = analyse(samples(tmp_path, rows, by=["net"]), Question(ordered=False)).groups
    assert [found.few for found in many.fewer] == [3, 10]
    assert many.fewer[0].missed == pytest.approx(0.527, abs=0.001)
    assert few.fewer == ()


def test_a_run_is_held_against_its_buckets_first(base):
    found = run_samples(base)
    drained = BucketHistory(1e6, level_bytes=(30e6, 20e6, 10e6), depth_bytes=30e6)
    analysis = analyse(replace(found, buckets=((drained,), ())), Question())
    draining, fresh = analysis.groups
    assert (draining.guard.leak, fresh.guard.verdict) == ("bucket", "clear")
    assert isinstance(draining.quantiles[0.5], RefusedInterval)
    assert isinstance(analysis.comparisons[0].difference, RefusedComparison)


def test_trials_of_a_run_that_failed_are_told_of(write_run, capsys):
    folder = write_run("run", {"none": (1, 10, 8), "slow": (2, 20, 8)}, failed={"none": 2})
    assert run_samples(folder).left_out == 2
    assert run(["analyze", str(folder)]) == 0
    assert "Planned trials that are not included: 2." in capsys.readouterr().out


def test_a_condition_without_a_trial_that_counts_is_shown_and_not_compared(write_run):
    found = run_samples(write_run("run", {"none": (1, 10, 8), "slow": (2, 20, 8)}))
    kept = found.group_of == 0
    alone = replace(found, values=found.values[kept], group_of=found.group_of[kept])
    analysis = analyse(alone, Question())
    assert [group.rows for group in analysis.groups] == [8, 0]
    assert analysis.groups[1].quantiles[0.5].more == 6
    assert analysis.comparisons == []
