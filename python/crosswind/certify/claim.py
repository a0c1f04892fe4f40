"""One claim: the measured value, its bound, the source of the bound, and the decision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Decision(StrEnum):
    """The decision that follows from a measurement."""

    HELD = "held"
    FAILED = "failed"
    UNDECIDED = "undecided"  # The machine was too busy, or lacks what the measurement needs.


@dataclass(frozen=True)
class Claim:
    """A claim holds when `measured` is at most `bound`.

    Attributes:
        family: the kind of claim, such as `buckets`.
        name: the exact claim, unique within the clock and the family.
        clock: `virtual` or `live`.
        measured: in `unit`; None where it could not be measured.
        bound: in `unit`; None where nothing could be measured.
        because: the source of the bound, one sentence.
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
    remark: str = ""  # Why the claim is undecided, or what else was measured.
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
        disturbed: why there can be no conclusion (see `quiet`), whatever was measured: noise can hide an
            error as well as cause one. Empty where there can be one.
    """
    measured = float(measured)
    known = measured if math.isfinite(measured) else None
    if disturbed:
        decision, reason = Decision.UNDECIDED, disturbed
    elif measured <= bound:
        decision, reason = Decision.HELD, remark
    else:  # NaN fails too: a value that is missing has not held.
        decision, reason = Decision.FAILED, remark or ("" if known is not None else "some of it never came")
    return Claim(family, name, clock, known, bound, unit, because, decision, reason, details or {})


def not_measured(family: str, name: str, clock: str, unit: str, because: str, reason: str) -> Claim:
    """Return an undecided claim for something that could not be measured."""
    return Claim(family, name, clock, None, None, unit, because, Decision.UNDECIDED, reason)
