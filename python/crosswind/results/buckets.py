"""What credit buckets held as trials began and ended, where their budgets outlive trials."""

from __future__ import annotations

from collections.abc import Sequence

from crosswind.curves import BucketHistory
from crosswind.results.measurement import BucketContent, Measurement
from crosswind.spec.resolved import Resolved

Credits = dict[str, BucketContent]  # by element


def credits_of(measurement: Measurement) -> Credits:
    """Return the credit buckets of a measurement."""
    return {element.element: element.credit for element in measurement.elements if element.credit is not None}


def bucket_histories(resolved: Resolved, trials: Sequence[Credits]) -> list[BucketHistory]:
    """Return the history of every bucket over the trials of one condition.

    Args:
        resolved: the experiment; where every trial had fresh budgets there is no history.
        trials: in the order in which they ran.
    """
    if resolved.trials.budgets != "kept":
        return []
    histories = []
    for element in sorted({element for credits in trials for element in credits}):
        known = [credits[element] for credits in trials if element in credits]
        histories.append(
            BucketHistory(
                refill_bps=known[0].refill_bps,
                rest_s=resolved.trials.rest_s or 0.0,
                level_bytes=[credit.first_bits / 8 for credit in known],
                left_bytes=[credit.left_bits / 8 for credit in known],
                depth_bytes=known[0].budget_bits / 8,
                name=f"the credit bucket {element}",
            )
        )
    return histories
