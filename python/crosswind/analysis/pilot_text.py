"""Print the prediction from a pilot."""

from crosswind.analysis.each import quantile_name
from crosswind.analysis.pilot import Prediction
from crosswind.plan.text import duration
from crosswind.text.units import count, percent


def describe_prediction(found: Prediction) -> str:
    """Return a prediction as text of several lines."""
    of = f"{quantile_name(found.quantile)} over trials of {found.figure}"
    target = f"within {percent(found.within)} at {percent(found.confidence)}"
    lines = [f"From the pilot {found.pilot}, for {of} {target}"]
    width = max(len(needed.condition) for needed in found.conditions)
    for needed in found.conditions:
        about = "at least" if needed.only_least else "about"
        said = (
            f"{about} {count(needed.trials)} trials" if needed.trials else f"no prediction: {needed.why_not}"
        )
        lines.append(f"  {needed.condition:{width}}  {said} ({needed.pilot} in the pilot)")
    if found.trials_each is None:
        return "\n".join(lines)
    blocks, total = found.trials_each, found.trials_each * len(found.conditions)
    least = "at least " if any(needed.only_least for needed in found.conditions) else ""
    long = duration(found.expected_s)
    lines.append(f"  so {least}{count(blocks)} complete blocks: {count(total)} trials, {long}")
    if blocks > found.at_most:
        ends = f"the experiment ends at {count(found.at_most)} of each"
        lines.append(f"  {ends}: raise `repeat`, or request a wider interval")
    return "\n".join(lines)
