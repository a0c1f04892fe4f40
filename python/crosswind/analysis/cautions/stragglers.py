"""A warning for each straggler: the node, in how many trials, and how much of the time."""

from statistics import median

from crosswind.analysis.cautions.catalogue import Caution, CautionKind, caution
from crosswind.analysis.stragglers import Straggler
from crosswind.analysis.summary import Summary
from crosswind.text.units import percent, short_names


def straggler_cautions(summary: Summary) -> list[Caution]:
    """Return a warning for each node and condition; empty where no trial had a straggler."""
    short = short_names(condition.name for condition in summary.conditions)
    found = []
    for condition in summary.conditions:
        seen: dict[str, list[Straggler]] = {}
        for trial in condition.counted:
            for straggler in trial.stragglers:
                seen.setdefault(straggler.node, []).append(straggler)
        for node, times in seen.items():
            held = percent(median(one.held_share for one in times))
            falls = median(one.falls for one in times)
            course = (
                f"changed between its rates, falling to the low one {falls:g} times"
                if any(one.oscillates for one in times)
                else "stayed there"
            )
            text = (
                f"In {len(times)} of {len(condition.counted)} trials it was held at its low rate for {held} "
                f"of the time (median) and {course}; {times[0].held_equals} of {times[0].equals} nodes with "
                "such a bucket were."
            )
            title = f"{node} is a straggler under {short[condition.name]}"
            found.append(caution(CautionKind.STRAGGLER, title, text))
    return found
