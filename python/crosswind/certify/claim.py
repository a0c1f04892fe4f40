"""One known answer: what was measured, the bound, where the bound comes from, and what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Decision(StrEnum):
    """What follows from a measurement."""

    HELD = "held"
    FAILED = "failed"
    UNDECIDED = "undecided"  # The machine was too busy, or lacks what the measurement needs.


@dataclass(frozen=True)
class Claim:
    """`measured` keeps the bound when it is at most `bound`.

    Attributes:
        family: what kind of thing is claimed, such as `buckets`.
        name: what exactly, unique within the clock and the family.
        clock: `virtual` or `live`.
        measured: in `unit`; None where it could not be measured.
        bound: in `unit`; None where only the remark can say why there is none.
        because: where the bound comes from, one sentence.
        remark: why it is undecided, or what else was seen; may be empty.
        details: further figures by name, in the unit that the name ends with.
    """

    family: str
    name: str
    clock: str
    measured: float | None
    bound: float | None
    unit: str
    because: str
    decision: Decision
    remark: str = ""
    details: Mapping[str, float | None] = field(default_factory=dict)


def at_most(
    family: str,
    name: str,
    clock: str,
    measured: float,
    bound: float,
    unit: str,
    because: str,
    *,
    disturbed: str = "",
    remark: str = "",
    details: Mapping[str, float | None] | None = None,
) -> Claim:
    """Return a claim with its decision.

    Args:
        disturbed: why nothing should be concluded (see `quiet`), whatever was measured: noise can hide an
            error in the control as well as make one. Empty where nothing stands against a conclusion.
    """
    measured = float(measured)
    known = measured if math.isfinite(measured) else None
    if disturbed:
        decision, said = Decision.UNDECIDED, disturbed
    elif measured <= bound:
        decision, said = Decision.HELD, remark
    else:  # NaN among it: what was not measured has not held.
        decision, said = Decision.FAILED, remark or ("" if known is not None else "some of it never came")
    return Claim(family, name, clock, known, bound, unit, because, decision, said, details or {})


def not_measured(family: str, name: str, clock: str, unit: str, because: str, reason: str) -> Claim:
    """Return an undecided claim of which nothing could be measured."""
    return Claim(family, name, clock, None, None, unit, because, Decision.UNDECIDED, reason)
