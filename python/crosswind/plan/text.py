"""Write an outline for people."""

from __future__ import annotations

import math
from itertools import groupby

from crosswind.plan.outline import Outline
from crosswind.plan.placement_text import placement_lines
from crosswind.topology import domains_text


def describe(outline: Outline) -> str:
    """Return an outline as text of several lines."""
    lines = [f"{outline.name}: {outline.summary}" if outline.summary else outline.name, ""]
    lines += [_count(outline), f"network: {outline.network}"]
    lines += [] if outline.domains is None else [f"domains: {domains_text(outline.domains)}"]
    lines.append("")
    if outline.placement is not None:
        lines += [*placement_lines(outline.placement), ""]
    if outline.factors:
        lines.append(_factors(outline))
        lines += [f"  {name}: {', '.join(levels)}" for name, levels in outline.factors.items()]
        lines.append("")
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
    if seconds is None:
        return "of unknown duration until the first has run"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"


def _factors(outline: Outline) -> str:
    number, found = len(outline.factors), len(outline.points)
    grid = math.prod(len(levels) for levels in outline.factors.values())
    every = "every combination" if found == grid else f"{found} of {grid} combinations"
    return f"{found} conditions from {number} factor{'' if number == 1 else 's'}, {every}"


def _count(outline: Outline) -> str:
    count = f"{len(outline.trials)} trials, {duration(outline.expected_s)}"
    if outline.at_most == len(outline.trials):
        return count
    most = f"{outline.at_most} trials, {duration(outline.expected_s_at_most)}"
    why = (
        "where the surface is least certain" if outline.adaptive else "until the intervals are narrow enough"
    )
    return f"{count}; up to {most}, {why}"
