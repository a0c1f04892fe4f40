"""Write an outline for people."""

from __future__ import annotations

import math
from itertools import groupby

from crosswind.plan.expected import BUSY_TIMES, Expected
from crosswind.plan.faults_text import fault_lines
from crosswind.plan.outline import Outline
from crosswind.plan.placement_text import placement_lines
from crosswind.spec.resolved import slower_text
from crosswind.topology import domains_text


def describe(outline: Outline) -> str:
    """Return an outline as text of several lines."""
    lines = [f"{outline.name}: {outline.summary}" if outline.summary else outline.name, ""]
    lines += [*_count(outline), f"network: {outline.network}"]
    lines += [] if outline.domains is None else [f"domains: {domains_text(outline.domains)}"]
    lines += [slower] if (slower := slower_text(outline.dilations)) else []
    lines.append("")
    if outline.placement is not None:
        lines += [*placement_lines(outline.placement), ""]
    if outline.factors:
        lines.append(_factors(outline))
        lines += [f"  {name}: {', '.join(levels)}" for name, levels in outline.factors.items()]
        lines.append("")
    if outline.faults:
        lines += ["faults, by time from the start of the measurement", *fault_lines(outline.faults), ""]
    for block, trials in groupby(outline.trials, key=lambda trial: trial.block):
        lines.append(f"block {block}")
        lines += [f"  {trial.position:3d}  {trial.condition}" for trial in trials]
    lines += ["", "What will be done", *(f"  - {action}" for action in outline.actions)]
    if outline.warnings:
        lines += ["", "Preserved", *(f"  - {item}" for item in outline.preserved)]
        lines += ["", "Warnings", *(f"  - {item}" for item in outline.warnings)]
    return "\n".join(lines)


def duration(seconds: float | None) -> str:
    """Return a time in one unit, such as `about 5 min`."""
    return between(seconds, seconds)


def between(least_s: float | None, most_s: float | None) -> str:
    """Return the range of a time, such as `about 80 s to 2 min` or `about 4 to 6 min`."""
    if least_s is None or most_s is None:
        return "of unknown duration until the first has run"
    (least, unit), (most, unit_of_most) = _amount(least_s), _amount(most_s)
    if unit != unit_of_most:
        return f"about {least} {unit} to {most} {unit_of_most}"
    return f"about {least} {unit}" if least == most else f"about {least} to {most} {unit}"


def _amount(seconds: float) -> tuple[str, str]:
    """Return a time as a number and its unit."""
    if seconds < 90:
        return f"{seconds:.0f}", "s"
    if seconds < 5400:
        return f"{seconds / 60:.0f}", "min"
    return f"{seconds / 3600:.1f}", "h"


def _factors(outline: Outline) -> str:
    number, found = len(outline.factors), len(outline.points)
    grid = math.prod(len(levels) for levels in outline.factors.values())
    every = "every combination" if found == grid else f"{found} of {grid} combinations"
    return f"{found} conditions from {number} factor{'' if number == 1 else 's'}, {every}"


def _count(outline: Outline) -> list[str]:
    """Return how many trials there are, how long they take, and what takes the time."""
    expected, most = outline.expected, outline.expected_at_most
    lines = [
        f"{len(outline.trials)} trials, {between(expected.least_s, expected.most_s)}",
        f"  {', '.join(_parts(expected))}",
    ]
    if outline.at_most != len(outline.trials):
        why = "the surface is least certain" if outline.adaptive else "the intervals are not narrow enough"
        where = "where" if outline.adaptive else "while"
        lines.append(f"  up to {outline.at_most} trials, {between(most.least_s, most.most_s)}, {where} {why}")
    return [*lines, f"  not counted: {'; '.join(outline.not_counted)}"]


def _parts(expected: Expected) -> list[str]:
    """Return the parts of a time, the longest usual one first."""
    load = "the load, for an unknown time" if expected.load_s is None else f"{_time(expected.load_s)} of load"
    rests = "rests until the budgets are refilled" if expected.rests_s is None else None
    return [
        f"at most {load}" if expected.load_may_end_sooner and expected.load_s is not None else load,
        *([rests] if rests else [f"{_time(expected.rests_s)} of rests"] if expected.rests_s else []),
        *([f"{_time(expected.fingerprints_s)} of fingerprints"] if expected.fingerprints_s else []),
        f"{_time(expected.set_up_s)} of set-up (about {BUSY_TIMES} times as long on a busy machine)",
    ]


def _time(seconds: float) -> str:
    return " ".join(_amount(seconds))
