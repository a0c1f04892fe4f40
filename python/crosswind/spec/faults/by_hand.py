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

# Steps of a file, in the last of which the fault is read.
_BEFORE, _AT = "1s", "2s"
_PLACE = f"fault.at.{_AT}"


class FaultRefused(CrosswindError):
    """A fault by hand that cannot be done; the message says what to write."""

    exit = Exit.USAGE


def fault_by_hand(setup: Setup, key: str, value: JsonValue) -> ResolvedStep:
    """Return a fault as a step of a timeline would have it, as if none came before it.

    Args:
        key, value: as a step of a file has them, such as `partition` and `db0 | db1`. Nodes to `resume` are
            taken for paused.

    Raises: FaultRefused: there is no such node, or it would do nothing.
    """
    # What runs in the nodes is not the application of the file, if that names one.
    by_itself = replace(setup, setting=replace(setup.setting, tested=Tested()))
    steps: dict[str, JsonValue] = {_BEFORE: {"pause": value}} if key == "resume" else {}
    steps[_AT] = {key: value}
    try:
        resolved = by_itself.condition_in(document_of({"fault": {"at": steps}}, key))
    except SpecErrors as errors:
        messages = [problem.message for problem in errors.problems]
        own = [message[len(_PLACE) :].lstrip(".: ") for message in messages if message.startswith(_PLACE)]
        raise FaultRefused("; ".join(own or messages)) from None
    return resolved.timeline[-1]
