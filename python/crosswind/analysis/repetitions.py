"""How many trials an interval needs, estimated from the existing trials (CONFIRM)."""

from dataclasses import dataclass

from crosswind.analysis.summary import Summary
from crosswind.stats import Confirm, ConfirmCurve, Interval, Refused, confirm, confirm_curve
from crosswind.text.units import count

TRIALS_MIN = 10  # of the published method; a curve with fewer sizes shows little
WITHIN = 0.05  # of the median, where the experiment has no target


@dataclass(frozen=True)
class Repetitions:
    """The repetitions that the first figure of a condition needs."""

    confirm: Confirm
    curve: ConfirmCurve


def repetitions(summary: Summary) -> dict[str, Repetitions]:
    """Return condition -> its repetitions; without conditions of few trials or with a refused interval."""
    until = summary.resolved.trials.repeat.until
    within = WITHIN if until is None else until.within
    found = {}
    for condition in summary.conditions:
        values = condition.per_trial(summary.primary.key).values
        repeated = isinstance(condition.estimates[summary.primary.key], Interval)
        if not repeated or len(values) < TRIALS_MIN or min(values) < 0:
            continue
        try:
            found[condition.name] = Repetitions(confirm(values, within=within), confirm_curve(values))
        except Refused:
            continue  # A value is infinite, or the median is 0 and has no shares.
    return found


def needed(found: Confirm) -> str:
    """Return how many trials an interval needs, as far as the existing trials show it."""
    if found.needed is None:
        return f"more than {count(found.n)}"
    return f"about all {count(found.n)}" if found.strained else count(found.needed)
