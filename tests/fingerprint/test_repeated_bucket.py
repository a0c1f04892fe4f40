"""Medians over repetitions, and what is known of a bucket that one of them did not empty."""

from __future__ import annotations

import math

from crosswind.analysis.network.token_bucket import TokenBucket
from crosswind.fingerprint.bucket.repeated_bucket import over_repetitions
from crosswind.stats import Bounded
from crosswind.stats.interval import Interval, NeedsTrials


def bucket(budget: float | None) -> TokenBucket:
    one = Bounded(1.0, 0.9, 1.1)
    if budget is None:
        return TokenBucket(kind="not emptied", high_bps=one)
    budget_bits = Bounded(budget, budget, budget)
    return TokenBucket(kind="undecided", high_bps=one, low_bps=one, emptied_s=3.0, budget_bits=budget_bits)


def test_a_bucket_that_was_not_emptied_is_larger_than_all_others() -> None:
    found = over_repetitions([bucket(size) for size in (1, 2, 3, 4, 5, None)])
    budget, low = found["budget_bits"], found["low_bps"]
    # Of six values the median lies between the least and the greatest with 1 - 2 / 2^6 = 0.97.
    assert isinstance(budget, Interval)
    assert (budget.low, budget.estimate, budget.high) == (1, 3.5, math.inf)
    # Of five it does so with 0.94 only.
    assert isinstance(low, NeedsTrials)
    assert low.more == 1
    assert found["refill_bps"].estimate is None
