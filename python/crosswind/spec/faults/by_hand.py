"""Faults that a hand asks for, one at a time: read and checked as those of a file."""

from __future__ import annotations

from dataclasses import replace

from pydantic import JsonValue

from crosswind.errors import CrosswindError, Exit
from crosswind.spec.declared import Tested
from crosswind.spec.document import document_of
from crosswind.spec.problems import SpecErrors
from crosswind.spec.resolved import ResolvedStep
from crosswind.spec.setup import Setup

# A step of a file, in which the fault is read.
_AT = "1s"
_PLACE = f"fault.at.{_AT}: "


class FaultRefused(CrosswindError):
    """A fault by hand that cannot be done; the message says what to write."""

    exit = Exit.USAGE


def fault_by_hand(setup: Setup, key: str, value: JsonValue) -> ResolvedStep:
    """Return a fault as a step of a timeline would have it, as if none came before it.

    Args:
        key, value: as a step of a file has them, such as `partition` and `db0 | db1`.

    Raises: FaultRefused: there is no such node, or it would do nothing.
    """
    # What runs in the nodes is not the application of the file, if that names one.
    by_itself = replace(setup, setting=replace(setup.setting, tested=Tested()))
    try:
        resolved = by_itself.condition_in(document_of({"fault": {"at": {_AT: {key: value}}}}, key))
    except SpecErrors as errors:
        messages = (problem.message.removeprefix(_PLACE) for problem in errors.problems)
        raise FaultRefused("; ".join(messages)) from None
    return resolved.timeline[0]
