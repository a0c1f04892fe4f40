"""How many trials an interval takes, as the trials that there are tell it (CONFIRM)."""

from dataclasses import dataclass

from crosswind.analysis.summary import Summary
from crosswind.stats import Confirm, ConfirmCurve, Interval, Refused, confirm, confirm_curve
from crosswind.text.units import count

TRIALS_MIN = 10  # of the published form; a curve through fewer sizes shows little
WITHIN = 0.05  # of the median, where the experiment asks for nothing else


@dataclass(frozen=True)
class Repetitions:
    """What one condition tells of its first figure."""

    confirm: Confirm
    curve: ConfirmCurve


def repetitions(summary: Summary) -> dict[str, Repetitions]:
    """Return condition -> what it tells; nothing of those with few trials, or whose interval is refused."""
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
            continue  # An infinite value, or a median of 0, which has no shares.
    return found


def needed(found: Confirm) -> str:
    """Return how many trials it takes, as far as those that there are can tell."""
    if found.needed is None:
        return f"more than {count(found.n)}"
    return f"about all {count(found.n)}" if found.strained else count(found.needed)
