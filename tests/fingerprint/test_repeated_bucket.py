"""Medians over repetitions, and what is known of a bucket that one of them did not empty."""

from __future__ import annotations

import math

from crosswind.fingerprint.bucket.repeated_bucket import over_repetitions
from crosswind.fingerprint.bucket.token_bucket import Range, TokenBucket
from crosswind.stats.interval import Interval, NeedsTrials


def bucket(budget: float | None) -> TokenBucket:
    one = Range(1.0, 0.9, 1.1)
    if budget is None:
        return TokenBucket("not emptied", one, None, None, None, None, None)
    return TokenBucket("undecided", one, one, None, 3.0, Range(budget, budget, budget), None)


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
