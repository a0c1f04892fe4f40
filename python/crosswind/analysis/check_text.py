"""Write a check for people, for JUnit readers, and as Markdown for the summary of a job."""

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
# What a JUnit reader is told of an outcome; nothing of one that passed.
_JUNIT = {"regression": "failure", "failed": "failure", "undecided": "skipped", "refused": "skipped"}


def lines(check: Check) -> list[str]:
    """Return a line for every condition, then the answer."""
    width = max(len(checked.compared.condition) for checked in check.checked)
    found = []
    for checked in check.checked:
        mark, name = _MARKS[checked.outcome], checked.compared.condition
        found.append(f"{mark:10}  {name:{width}}  {sentence(checked, check.allowed)}")
    return [*found, answer(check)]


def sentence(checked: Checked, allowed: float) -> str:
    """Return what was found under one condition."""
    compared = checked.compared
    base, run = (quantity(median, compared.measure.unit) for median in compared.medians)
    told = f"{compared.measure.label} {run}, was {base}"
    if checked.slowdown is not None:
        low, estimate, high = checked.slowdown
        told += f": {speed_change(estimate)} ({speed_interval(low, high)}), allowed {100 * allowed:.10g} %"
    if isinstance(compared.ratio, RefusedComparison):
        return f"{told}; refused: {refusal(compared.ratio.guard)}"
    if checked.outcome == "failed":
        return f"{told}; trials that failed, and are in none of this: {compared.lost[1]}"
    if checked.outcome != "undecided":
        return told
    if isinstance(compared.ratio, GroupsNeedTrials):
        return f"{told}; an interval {compared.ratio}"
    if checked.more_trials is None:
        return f"{told}; too near to what is allowed to tell"
    trials = "trial" if checked.more_trials == 1 else "trials"
    return f"{told}; about {count(checked.more_trials)} more {trials} a side would decide"


def answer(check: Check) -> str:
    """Return the answer in a sentence."""
    outcomes = [checked.outcome for checked in check.checked]
    slower = f"slower by more than {100 * check.allowed:.10g} %"
    if "regression" in outcomes:
        return f"Regression: {outcomes.count('regression')} of {len(outcomes)} conditions are {slower}."
    if "failed" in outcomes:
        failed = f"{outcomes.count('failed')} of {len(outcomes)} conditions"
        return f"Failed: trials under {failed} did not end, and what failed has not passed."
    if "refused" in outcomes:
        refused = f"{outcomes.count('refused')} of {len(outcomes)} conditions"
        return f"Refused: trials under {refused} are not independent."
    if "undecided" in outcomes:
        return f"Undecided: {outcomes.count('undecided')} of {len(outcomes)} conditions need more trials."
    return f"Passed: none of {len(outcomes)} conditions is {slower}."


def junit(check: Check) -> str:
    """Return the check as JUnit XML: a test for every condition.

    A regression and trials that failed are failures. What is undecided or refused is skipped, with its
    reason: nothing was found to be wrong, and the exit status says that it has not passed.
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
        told = sentence(checked, check.allowed)
        found = ElementTree.SubElement(case, outcome, message=told)
        if outcome == "failure":
            found.set("type", checked.outcome)
            found.text = told
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown(check: Check) -> str:
    """Return the check as Markdown."""
    rows = [
        f"| {_MARKS[checked.outcome]} | {checked.compared.condition} | {sentence(checked, check.allowed)} |"
        for checked in check.checked
    ]
    table = ["| outcome | condition | found |", "|---|---|---|", *rows]
    return "\n".join(["### crosswind check", "", answer(check), "", *table, ""])
