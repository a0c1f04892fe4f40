"""The guard: refuses what is not independent, in its order, and seldom anything else."""

import math

import numpy as np
import pytest

from crosswind.curves import BucketHistory
from crosswind.stats import (
    Interval,
    NeedsTrials,
    PerTrial,
    RefusedInterval,
    guard,
    guard_together,
    guarded_interval,
    hochberg,
    holm,
)


def in_order(values) -> PerTrial:  # type: ignore[no-untyped-def]
    return PerTrial.of({f"t{place}": float(value) for place, value in enumerate(values)})


def interval_of(values):  # type: ignore[no-untyped-def]
    trials = in_order(values)
    return guarded_interval(trials, 0.5, guard(trials))


def noise(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(0, 0.2, n)


def test_independent_trials_pass() -> None:
    assert guard(in_order(noise(30))).verdict == "clear"
    assert isinstance(interval_of(noise(30)), Interval)


@pytest.mark.parametrize("n", range(6))
def test_fewer_than_six_trials_are_not_enough_to_tell(n: int) -> None:
    found = guard(in_order(range(n)))
    assert found.verdict == "unknown"
    assert found.reason == f"not enough trials: {n} of 6"
    assert isinstance(interval_of(range(n)), NeedsTrials)


def test_a_doubling_is_refused_with_the_place_and_what_would_help() -> None:
    answer = interval_of(noise(10) * ([1] * 6 + [2] * 4))
    assert isinstance(answer, RefusedInterval)
    assert (answer.guard.leak, answer.guard.change) == ("shift", 6)
    assert "after trial 6 of 10" in answer.guard.reason
    assert answer.guard.levels == pytest.approx((1, 2), rel=0.3)
    assert "fresh nodes" in answer.guard.remedy


def test_a_trend_of_six_is_refused() -> None:
    assert guard(in_order(range(6))).refused


def test_alternation_is_dependence() -> None:
    values = noise(24) * ([1, 1.6] * 12)
    found = guard(in_order(values))
    assert found.leak == "dependence"
    assert "block by session" in found.remedy


def test_a_failed_trial_is_no_change() -> None:
    values = noise(20)
    values[7] = math.inf
    assert guard(in_order(values)).verdict == "clear"


def test_trials_that_are_all_alike_pass() -> None:
    assert guard(in_order([5] * 12)).verdict == "clear"


def test_the_bucket_speaks_before_any_statistic_and_at_any_n() -> None:
    # 10 Gbit a trial, 2 Gbit back in 1 s of trial and 1 s of rest at 1 Gbit/s: 9 s of rest are missing.
    drained = BucketHistory(1e9, duration_s=1, rest_s=1, sent_bytes=[1.25e9] * 3)
    found = guard(in_order([1, 1, 1]), [drained])
    assert (found.verdict, found.leak) == ("refused", "bucket")
    assert "sent 10 Gbit, and the token bucket regains 2 Gbit" in found.reason
    assert found.remedy.startswith("rest of 9 s")
    assert drained.rest_needed_s == pytest.approx(9)


def test_levels_that_fall_are_named_and_levels_that_return_pass() -> None:
    falling = BucketHistory(1e9, 1, 1, level_bytes=[100e9, 60e9, 20e9])
    assert "held 800 Gbit when the first trial began, 160 Gbit when the last one began" in str(
        falling.fault()
    )
    rested = BucketHistory(1e9, 1, 9, sent_bytes=[1.25e9] * 3, level_bytes=[100e9, 99e9, 100e9])
    assert guard(in_order(noise(12)), [rested]).verdict == "clear"


def test_levels_are_compared_with_what_the_bucket_holds_when_full() -> None:
    # All of them began with next to nothing of 100 GB: alike, although one had five times as much as another.
    empty = BucketHistory(1e9, level_bytes=[1e8, 5e8, 2e8], depth_bytes=100e9)
    assert empty.fault() is None
    # Each trial takes 5 Gbit, and 5 s bring that back; 15 are missing in all.
    worn = BucketHistory(
        1e9, rest_s=1, level_bytes=[2.5e9, 1.875e9, 1.25e9], left_bytes=[1.875e9, 1.25e9, 0.625e9], name="it"
    )
    found = guard(in_order([1, 1, 1]), [empty, worn])
    assert found.reason.startswith(
        "it held 20 Gbit when the first trial began, 10 Gbit when the last one began"
    )
    assert found.remedy.startswith("rest of 5 s")


def test_an_interval_that_grew_is_a_warning() -> None:
    # Quiet at first, then quiet and wild in turns: no level, trend or neighbour gives it away.
    calm, wild = [10.0, 10.2, 9.9, 10.1, 9.8, 10.0], [4.0, 17.0, 16.0, 3.0, 5.0, 18.0]
    found = guard(in_order(calm + wild))
    assert found.verdict == "clear"
    assert "of 12 trials is wider than that of the first 6" in found.warning


def test_false_alarms_are_at_most_one_in_twenty() -> None:
    refused = np.mean([guard(in_order(noise(20, seed))).refused for seed in range(200)])
    assert refused <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


def family(conditions: int, n: int, seed: int) -> dict[int, PerTrial]:
    values = np.random.default_rng(seed).lognormal(0, 0.2, (conditions, n))
    return {name: in_order(row) for name, row in enumerate(values)}


def test_a_clean_report_is_refused_anywhere_in_at_most_one_of_twenty() -> None:
    # Each by itself at 5 % would refuse one of ten in 40 of 100 reports.
    reports = [guard_together(family(10, 20, seed)) for seed in range(100)]
    refused = np.mean([any(seen.refused for seen in report.values()) for report in reports])
    assert refused <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


def test_one_of_ten_that_changes_is_refused_and_the_others_are_not() -> None:
    series = family(10, 20, 4)
    series[3] = in_order(noise(20, 5) * ([1] * 12 + [2] * 8))
    found = guard_together(series)
    assert [name for name, seen in found.items() if seen.refused] == [3]
    assert found[3].change == 12
    # Of 2000 orders none has a p that ten series leave: more are looked at.
    assert min(found[3].p.values()) < 0.005


def test_where_all_leak_each_is_asked_at_5_percent() -> None:
    # A doubling after 6 of 10 trials has p = 0.01 to 0.04; Holm would want 0.005 of the first of ten.
    series = in_order(noise(10) * ([1] * 6 + [2] * 4))
    assert all(seen.refused for seen in guard_together(dict.fromkeys(range(10), series)).values())
    beside = guard_together(family(9, 10, 1) | {9: series})
    assert not any(seen.refused for seen in beside.values())


def test_a_part_of_the_error_refuses_less() -> None:
    trials = in_order(noise(10) * ([1] * 6 + [2] * 4))
    whole, tenth = (guard_together({"a": trials}, share=share)["a"] for share in (1.0, 0.1))
    assert (whole.verdict, tenth.verdict) == ("refused", "clear")


def test_many_conditions_take_more_trials_than_six() -> None:
    # Of 720 orders of six the rarest is one of two; 100 conditions leave 1 of 2000.
    found = guard_together(dict.fromkeys(range(99), in_order(noise(6))) | {99: in_order(range(6))})
    assert found[99].reason == "not enough trials: 6 of 7"


def test_conditions_that_cannot_be_asked_use_none_of_the_error() -> None:
    alone = guard_together({"a": in_order(noise(12))})["a"]
    beside = guard_together({"a": in_order(noise(12)), "b": in_order([5] * 12), "c": in_order([1, 2])})
    assert beside["a"].p == alone.p
    assert [beside[name].verdict for name in "bc"] == ["clear", "unknown"]


def test_hochberg_is_worked_by_hand() -> None:
    # From the largest down: .04 * 1, .03 * 2 (and no more than what is above), .01 * 3.
    assert hochberg([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])


def test_a_weighted_correction_is_worked_by_hand() -> None:
    # In the order of p / weight: .02 / .5, .01 / .1 and .5 / .4. Left are weights of 1, .5 and .4.
    assert holm([0.01, 0.02, 0.5], [0.1, 0.5, 0.4]) == pytest.approx([0.05, 0.04, 0.5])


def test_more_trials_than_orders_can_be_compared_of_are_not_judged() -> None:
    seen = guard(in_order(range(1001)))
    assert (seen.verdict, seen.reason) == ("unknown", "too many trials to compare their orders: 1001 of 1000")
