"""Answer the three questions of a network profile."""

from crosswind.analysis.answer import Answer
from crosswind.analysis.monitored import Distribution, by_place
from crosswind.analysis.profile.sensitivity import AxisSensitivity, Effect, LevelStep, Sensitivity
from crosswind.analysis.profile.surface import Surface
from crosswind.text.units import number, percent

# An application is not bound by the network if a better one gains less.
MATERIAL = 5.0  # %
FULL = 950  # per mille of a link's rate, from which a link counts as full


def profile_answers(
    surface: Surface, found: Sensitivity, monitored: dict[str, list[Distribution]]
) -> list[Answer]:
    """Return the three answers.

    Args:
        monitored: distributions from monitors, by condition.
    """
    return [_bound(surface, found), _used(surface, monitored), _helps(surface, found)]


def _bound(surface: Surface, found: Sensitivity) -> Answer:
    """Check whether performance still rises in the last step of each factor, with the other at its best."""
    best = ", ".join(axis.label(surface.towards_better(axis)[-1]) for axis in surface.axes)
    steps = [(each, each.steps[-1]) for each in found.axes if each.steps and each.steps[-1].at_best]
    sayings = [_last_step(each, step) for each, step in steps]
    verdicts = [_verdict(step.at_best) for _, step in steps]
    bound = [each.axis.name for (each, _), verdict in zip(steps, verdicts, strict=True) if verdict == "bound"]
    worst = min(surface.share(point.value) for point in surface.points)
    text = f"The worst point has {percent(worst)} of the best one's {surface.measure.label}. "
    if not steps:
        return Answer(
            "Is the application bound by the network?", "Unknown",
            text + "No two points differ only in one factor at the best level of the other.", "plain",
        )  # fmt: skip
    text += f"At the best network of this run ({best}), " + "; ".join(sayings) + "."
    question = "Is the application bound by the network?"
    if bound:
        return Answer(question, f"Yes, by {' and '.join(bound)}", text, "wary")
    if all(verdict == "free" for verdict in verdicts):
        text += f" No step gains {MATERIAL:g}\u00a0%, so a better network would not help."
        return Answer(question, "Not at the best network", text, "good")
    return Answer(question, "Undecided", text + " More trials would decide.", "plain")


def _last_step(each: AxisSensitivity, step: LevelStep) -> str:
    axis = each.axis
    assert step.at_best is not None
    step_of = f"the last step of {axis.name}, {axis.label(step.worse)} to {axis.label(step.better)},"
    return f"{step_of} gave {said(step.at_best)}"


def _verdict(effect: Effect | None) -> str:
    if effect is None or effect.low is None or effect.high is None:
        return "open"
    _, low, high = effect.percent()
    assert low is not None
    assert high is not None
    return "bound" if low > 0 and high > MATERIAL else "free" if high < MATERIAL else "open"


def _used(surface: Surface, monitored: dict[str, list[Distribution]]) -> Answer:
    question = "Is the network well used?"
    by_condition = {
        point.condition.name: by_place(
            d for d in monitored.get(point.condition.name, []) if d.what == "utilisation"
        )
        for point in surface.points
    }
    at_best = by_condition[surface.best.condition.name]
    if not at_best:
        remedy = "give the conditions a monitor at the link, monitor: {what: [utilisation]}"
        return Answer(
            question, "Not measured", f"No monitor measured the utilisation of the link; {remedy}.", "plain"
        )
    place, busiest = max(at_best.items(), key=lambda item: mean(item[1]))
    everywhere = [mean(found[place]) for found in by_condition.values() if place in found]
    low, high = percent(min(everywhere)), percent(max(everywhere))
    full, idle = percent(share_from(busiest, FULL)), percent(1 - share_from(busiest, 1))
    text = (
        f"Under the best condition {place} carried {percent(mean(busiest))} of its rate on "
        f"average, was above {FULL / 10:g}\u00a0% of it for {full} of the time and idle for {idle}. "
        f"Over all conditions the average lies between {low} and {high}."
    )
    return Answer(question, f"{percent(mean(busiest))} on average", text, "plain")


def mean(distribution: Distribution) -> float:
    """Return the mean utilisation as a share, each bin at its middle."""
    middles = [(low + ((high or low + 1) - 1)) / 2 * count for low, high, count in distribution.bins]
    return sum(middles) / distribution.total / 1000


def share_from(distribution: Distribution, value: int) -> float:
    """Return the share of values of at least `value`, which is the edge of a bin."""
    return sum(count for low, _, count in distribution.bins if low >= value) / distribution.total


def _helps(surface: Surface, found: Sensitivity) -> Answer:
    question = "Which change of the network would help most?"
    gains = [
        f"{_range(surface, each)} gains {said(each.whole)}, {elasticity(each)}"
        for each in sorted(found.axes, key=lambda each: -each.whole.estimate)
    ]
    averaged = " The other factor is averaged over its levels." if len(found.axes) > 1 else ""
    text = _capital("; ".join(gains)) + "." + averaged
    if refused := sum(point.refused for point in surface.points):
        text += f" Trials are not independent in {refused} of {len(surface.points)} conditions; results from "
        text += "these have no interval."
    elif found.fewest < 2:
        text += " A condition has only one trial, so there is no interval."
    if found.most is None:
        return Answer(question, "Undecided", text, "plain")
    axis = found.most.axis
    change = {"more": "More", "less": "Less", "either": "Another"}[axis.better]
    return Answer(question, f"{change} {axis.name}", text, "good")


def _range(surface: Surface, each: AxisSensitivity) -> str:
    levels = surface.towards_better(each.axis)
    return f"{each.axis.name} from {each.axis.label(levels[0])} to {each.axis.label(levels[-1])}"


def elasticity(each: AxisSensitivity) -> str:
    """Return an elasticity with its unit and interval, such as `-0.21 % for each us (-0.22 to -0.20)`."""
    effect = each.elasticity
    interval = (
        ""
        if effect.low is None or effect.high is None
        else f" ({_signed(effect.low)} to {_signed(effect.high)})"
    )
    return f"{_signed(effect.estimate)}\u00a0% for each {each.per}{interval}"


def said(effect: Effect) -> str:
    """Return a gain with its interval, such as `+45 % (38 to 52)`."""
    estimate, low, high = effect.percent()
    interval = "" if low is None or high is None else f" ({_signed(low)} to {_signed(high)})"
    return f"{_signed(estimate)}\u00a0%{interval}"


def _signed(value: float) -> str:
    text = number(abs(value)) if abs(value) >= 0.01 else f"{abs(value):.1g}"
    return ("\u2212" if value < 0 else "+") + text


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
