"""What a credit bucket holds when the next trial begins, by arithmetic."""

import json
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from crosswind.runner.budgets import Bucket, Budgets
from crosswind.spec.resolved import FabricCondition, Resolved, ResolvedCondition, ResolvedTrials

# Full with 400 Mbit at first; 100 were left 1000 s after the epoch, and 20 come back every second.
SPENT = Bucket(400_000_000, 20_000_000, 400_000_000, 100_000_000, 1000.0)
NAME = "client/host.egress/0:credit"


def test_a_bucket_is_refilled_while_nobody_sends_and_no_more_than_full() -> None:
    assert [SPENT.held_bits(now_s) / 1e6 for now_s in (1000, 1001.5, 1015, 2000)] == [100, 130, 400, 400]
    assert [SPENT.rest_s(now_s) for now_s in (1000, 1005, 1015, 2000)] == [15, 10, 0, 0]
    assert SPENT.held_bits(990) == 100_000_000, "a clock that was set back takes nothing away"


def test_a_rest_brings_back_what_the_first_trial_found_and_not_more() -> None:
    partly = Bucket(400_000_000, 20_000_000, 200_000_000, 100_000_000, 1000.0)
    assert partly.rest_s(1000) == 5


def test_a_continued_run_knows_what_is_left_and_each_condition_has_its_own(tmp_path: Path) -> None:
    resolved = Resolved.unknown().model_copy(update={"trials": ResolvedTrials(budgets="kept")})
    just_now = Bucket(400_000_000, 1000, 400_000_000, 100_000_000, time.time())
    (tmp_path / "budgets.json").write_text(json.dumps({"slow": {NAME: asdict(just_now)}}))
    budgets = Budgets.of(resolved, tmp_path)
    held = budgets.applied(FabricCondition(name="slow")).held_bits
    assert held == {NAME: pytest.approx(100_000_000, abs=100_000)}
    assert budgets.rest_s("slow") == pytest.approx(300_000, rel=0.001)
    assert budgets.applied(FabricCondition(name="other")) == FabricCondition(name="other")
    assert budgets.rest_s("other") == 0


def test_fresh_budgets_are_never_told_to_the_agent(tmp_path: Path) -> None:
    budgets = Budgets.of(Resolved.unknown(), tmp_path)
    assert budgets.applied(FabricCondition(name="slow")) == FabricCondition(name="slow")


def test_the_buckets_of_a_network_that_is_slowed_down_refill_as_slowly(tmp_path: Path) -> None:
    slow = ResolvedCondition(name="slow", dilation=10)
    kept = Resolved.unknown().model_copy(
        update={"trials": ResolvedTrials(budgets="kept"), "conditions": [slow]}
    )
    # Left 100 s of real time ago, which are 10 s in the network.
    spent = Bucket(400_000_000, 20_000_000, 400_000_000, 100_000_000, (time.time() - 100) / 10)
    (tmp_path / "budgets.json").write_text(json.dumps({"slow": {NAME: asdict(spent)}}))
    held = Budgets.of(kept, tmp_path).applied(FabricCondition(name="slow")).held_bits
    assert held == {NAME: pytest.approx(300_000_000, abs=1_000_000)}
