"""Write a check as text, as JUnit XML, and as Markdown for the summary of a job."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from crosswind.analysis.check import Check, Checked
from crosswind.analysis.compare_text import refusal
from crosswind.stats import GroupsNeedTrials, RefusedComparison
from crosswind.text.change import speed_change, speed_interval
from crosswind.text.units import count, quantity

_MARKS = {
    "pass": "pass",
    "regression": "REGRESSION",
    "undecided": "undecided",
    "failed": "failed",
    "refused": "refused",
}
# Elements of JUnit by outcome; a test that passed has none.
_JUNIT = {"regression": "failure", "failed": "failure", "undecided": "skipped", "refused": "skipped"}


def lines(check: Check) -> list[str]:
    """Return how slow time was, a line for every condition, and the answer."""
    width = max(len(checked.compared.condition) for checked in check.checked)
    found = list(check.comparison.sameness.time)
    for checked in check.checked:
        mark, name = _MARKS[checked.outcome], checked.compared.condition
        found.append(f"{mark:10}  {name:{width}}  {sentence(checked, check.allowed)}")
    return [*found, answer(check)]


def sentence(checked: Checked, allowed: float) -> str:
    """Return the result under one condition."""
    compared = checked.compared
    base, run = (quantity(median, compared.measure.unit) for median in compared.medians)
    text = f"{compared.measure.label} {run}, was {base}"
    if checked.slowdown is not None:
        low, estimate, high = checked.slowdown
        text += f": {speed_change(estimate)} ({speed_interval(low, high)}), allowed {100 * allowed:.10g} %"
    if isinstance(compared.ratio, RefusedComparison):
        return f"{text}; refused: {refusal(compared.ratio.guard)}"
    if checked.outcome == "failed":
        return f"{text}; failed trials, which are not in these numbers: {compared.lost[1]}"
    if checked.outcome != "undecided":
        return text
    if isinstance(compared.ratio, GroupsNeedTrials):
        return f"{text}; an interval {compared.ratio}"
    if checked.more_trials is None:
        return f"{text}; too close to the limit to decide"
    trials = "trial" if checked.more_trials == 1 else "trials"
    return f"{text}; about {count(checked.more_trials)} more {trials} on each side would decide"


def answer(check: Check) -> str:
    """Return the answer in a sentence."""
    outcomes = [checked.outcome for checked in check.checked]
    slower = f"slower by more than {100 * check.allowed:.10g} %"
    if "regression" in outcomes:
        return f"Regression: {outcomes.count('regression')} of {len(outcomes)} conditions are {slower}."
    if "failed" in outcomes:
        failed = f"{outcomes.count('failed')} of {len(outcomes)} conditions"
        return f"Failed: trials under {failed} failed, so these conditions have not passed."
    if "refused" in outcomes:
        refused = f"{outcomes.count('refused')} of {len(outcomes)} conditions"
        return f"Refused: trials under {refused} are not independent."
    if "undecided" in outcomes:
        return f"Undecided: {outcomes.count('undecided')} of {len(outcomes)} conditions need more trials."
    return f"Passed: none of {len(outcomes)} conditions is {slower}."


def junit(check: Check) -> str:
    """Return the check as JUnit XML: a test for every condition.

    Regressions and failed trials are failures. Undecided and refused conditions are skipped, with the reason:
    no fault was found, and the exit status shows that they have not passed.
    """
    outcomes = [_JUNIT.get(checked.outcome) for checked in check.checked]
    suite = ElementTree.Element(
        "testsuite",
        name="crosswind check",
        tests=str(len(check.checked)),
        failures=str(outcomes.count("failure")),
        skipped=str(outcomes.count("skipped")),
    )
    for checked, outcome in zip(check.checked, outcomes, strict=True):
        case = ElementTree.SubElement(
            suite, "testcase", classname=checked.compared.measure.label, name=checked.compared.condition
        )
        if outcome is None:
            continue
        text = sentence(checked, check.allowed)
        found = ElementTree.SubElement(case, outcome, message=text)
        if outcome == "failure":
            found.set("type", checked.outcome)
            found.text = text
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown(check: Check) -> str:
    """Return the check as Markdown."""
    rows = [
        f"| {_MARKS[checked.outcome]} | {checked.compared.condition} | {sentence(checked, check.allowed)} |"
        for checked in check.checked
    ]
    table = ["| outcome | condition | found |", "|---|---|---|", *rows]
    time = [part for line in check.comparison.sameness.time for part in (line, "")]
    return "\n".join(["### crosswind check", "", answer(check), "", *time, *table, ""])
