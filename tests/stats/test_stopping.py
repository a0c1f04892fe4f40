"""The stopping rule: what it waits for, and where it stops."""

import math

import numpy as np
import pytest

from crosswind.curves import BucketHistory
from crosswind.stats import PerTrial, StoppingRule, guard

RULE = StoppingRule(quantile=0.5, within=0.05, confidence=0.95, at_least=6, at_most=60)


def in_order(values) -> PerTrial:  # type: ignore[no-untyped-def]
    return PerTrial.of({f"t{place}": float(value) for place, value in enumerate(values)})


def noise(n: int, spread: float, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(0, spread, n)


def test_it_stops_at_the_third_narrow_look_and_not_before() -> None:
    values = noise(8, 0.01)
    looks = [RULE.look(in_order(values[:n])) for n in (5, 6, 7, 8)]
    assert [look.stop for look in looks] == [False, False, False, True]
    assert "2 of 3 looks in a row" in looks[2].waiting_for
    assert [look.forecast for look in looks] == [8, 8, 8, 8]


def test_a_look_that_is_too_wide_starts_the_count_again() -> None:
    rule = StoppingRule(0.5, 0.05, 0.95, at_least=6, at_most=60)
    # The interval of 6 to 8 trials is [smallest, largest]: a wild seventh makes 7 and 8 wide.
    calm = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2]
    assert "1 of 3" in rule.look(in_order(calm)).waiting_for
    wide = rule.look(in_order([*calm, 150.0]))
    assert "the target is" in wide.waiting_for
    assert wide.achieved == pytest.approx((150 - 99) / 2 / 100.2)


def test_the_forecast_grows_with_the_square_of_what_is_missing() -> None:
    look = RULE.look(in_order(noise(20, 0.2)))
    assert look.forecast == math.ceil(20 * (look.achieved / 0.05) ** 2) + 2


def test_a_number_that_is_fixed_in_advance_needs_one_look() -> None:
    fixed = StoppingRule(0.5, 0.05, 0.95, at_least=6, at_most=6)
    assert fixed.look(in_order(noise(6, 0.01))).stop


def test_two_modes_do_not_stop() -> None:
    values = np.random.default_rng(3).choice([80, 120], 30) + noise(30, 0.01)
    rule = StoppingRule(0.5, 0.5, 0.95, at_least=6, at_most=60)
    look = rule.look(in_order(values))
    assert not look.stop
    assert look.waiting_for.startswith("two modes, 8")


def test_what_the_guard_refuses_does_not_stop() -> None:
    values = noise(20, 0.01) * ([1] * 12 + [1.04] * 8)
    look = RULE.look(in_order(values))
    assert look.waiting_for.startswith("the guard refuses an interval: the level changed after trial 12")
    assert look.achieved < 0.05


def test_failed_trials_are_as_wide_as_can_be() -> None:
    look = RULE.look(in_order([1, 2, 1.5, 1.2, math.inf, math.inf]))
    assert (look.achieved, look.forecast) == (math.inf, None)
    assert "trials that end" in look.waiting_for


def test_nothing_yet_is_an_answer() -> None:
    assert RULE.look(in_order([])).forecast == 8


def test_a_bucket_that_drains_never_stops_it_however_narrow_the_interval() -> None:
    drained = BucketHistory(refill_bps=1e6, level_bytes=[10e6 - 1e6 * trial for trial in range(8)])
    look = RULE.look(in_order([100.0] * 8), guard(in_order([100.0] * 8), [drained]))
    assert not look.stop
    assert look.guard.leak == "bucket"
    assert "the guard refuses an interval: the token bucket held 80 Mbit" in look.waiting_for
