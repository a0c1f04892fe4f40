"""The levels of credit buckets as measurements tell them, and what they say of trials."""

import pytest

from crosswind.results import Measurement
from crosswind.results.buckets import bucket_histories, credits_of
from crosswind.spec.resolved import Resolved, ResolvedTrials

KEPT = Resolved.unknown().model_copy(update={"trials": ResolvedTrials(budgets="kept", rest_s=None)})
NAME = "client/host.egress/0:credit"


def measured(first_bits: int, left_bits: int) -> Measurement:
    credit = {"budget_bits": 8000, "refill_bps": 80, "first_bits": first_bits, "left_bits": left_bits}
    return Measurement.model_validate(
        {
            "window": {"started_ns": 0, "ended_ns": 1},
            "ledger": {"packets": 0, "early": 0, "missed": 0, "bound_ns": 0},
            "conservation": {"holds": True},
            "host": {},
            "elements": [{"element": "h0/uplink"}, {"element": NAME, "credit": credit}],
        }
    )


def test_the_history_of_a_kept_bucket_has_a_level_for_every_trial() -> None:
    trials = [credits_of(measured(*levels)) for levels in ((8000, 4000), (6000, 2000), (4000, 0))]
    (history,) = bucket_histories(KEPT, trials)
    assert history.level_bytes == [1000, 750, 500]
    assert history.rest_needed_s == pytest.approx(50)
    assert f"the credit bucket {NAME} held 8 kbit when the first trial began" in str(history.fault())


def test_fresh_buckets_have_no_history() -> None:
    trials = [credits_of(measured(8000, 0))] * 3
    assert bucket_histories(Resolved.unknown(), trials) == []
    assert bucket_histories(KEPT, [{}]) == []
