"""The faults of a run on the terminal: a line for each fault of a condition."""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.analysis.faults import FaultAnswer
from crosswind.analysis.summary import Summary
from crosswind.text.units import count, duration, exact_seconds, short_names

# A nemesis may have many; the report has all.
LINES = 8


def fault_lines(summary: Summary) -> Iterator[str]:
    """Yield what each fault of each condition did; of many, how many more there are."""
    short = short_names(condition.name for condition in summary.conditions)
    lines = [
        f"{short[condition.name]}: {fault_line(fault)}"
        for condition in summary.conditions
        for fault in condition.faults
    ]
    yield from lines[:LINES]
    if len(lines) > LINES:
        yield f"{len(lines) - LINES} more faults in the report."


def fault_line(fault: FaultAnswer) -> str:
    """Return a fault in one line: when, for how long, what was cut, and how long recovery took."""
    like = fault.like
    lasted = "to the end" if like.end_ns is None else f"for {duration(like.end_ns - like.begin_ns)}"
    least = "at least " if fault.may_be_more else ""
    cut = f", {least}{count(round(fault.cut_packets))} packets cut {like.direction}" if like.direction else ""
    back = (
        ""
        if like.end_ns is None
        else "; recovery unknown"
        if not fault.judged
        else "; no recovery"
        if fault.recovered_ns is None
        else f"; recovered {duration(fault.recovered_ns)} after it in {fault.recovered} of {fault.judged}"
    )
    return f"{like.words} at {exact_seconds(like.due_ns)} {lasted}{cut}{back}"
