"""Change the condition of the active fabric while programs run in it."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from crosswind.spec import ResolvedCondition, Setup
    from crosswind.testbed.control.messages import NetworkUp
    from crosswind.testbed.control.server import AnyRequest

# One byte more than a document may have, so that its reader refuses a longer one.
_BYTES_READ_MAX = (4 << 20) + 1
# A name or a path has neither a colon before a space nor a brace at its start.
_INLINE = re.compile(r"\s*\{|.*:(\s|$)", re.DOTALL)


@click.command()
@click.argument("condition", metavar="FILE|NAME|-|CONDITION")
@click.option("--up", "pid", type=int, metavar="PID", help="Process id of `crosswind up`, if several run.")
def command(condition: str, pid: int | None) -> None:
    """Change the condition of the active fabric while programs run in it.

    FILE holds one condition (- is standard input). NAME is a condition of the active experiment or of the
    catalogue. CONDITION is written out: 'link: [{delay: {time: 40ms}}]'. Prints the instant from which the
    condition is active, in ns of CLOCK_MONOTONIC.
    """
    from crosswind.testbed.control.client import ask
    from crosswind.testbed.control.messages import ConditionChanged, NetworkUp, Request

    up = ask(Request(do="network"), NetworkUp, pid)
    if condition in up.conditions and not Path(condition).is_file():
        request = Request(do="set", own=condition)
    else:
        request = _with_condition(condition, up)
    changed = ask(request, ConditionChanged, pid)
    click.echo(f"{changed.condition} effective_ns {changed.effective_ns}")


def _with_condition(condition: str, up: NetworkUp) -> AnyRequest:
    """Return the request to set a condition that is not one of the active network's own.

    It is read and resolved here: a file that never ends then blocks this command only.
    """
    from crosswind.spec import carried_out, condition_for_agent
    from crosswind.spec.document import document_of
    from crosswind.spec.setup import setup_of
    from crosswind.testbed.control.server import AnyRequest

    setup = setup_of(document_of(up.network, "the active network"))
    resolved = carried_out(_resolved(condition, setup, up.conditions))
    return AnyRequest(do="set", condition=condition_for_agent(resolved))


def _resolved(condition: str, setup: Setup, known: Sequence[str]) -> ResolvedCondition:
    """Return the selected condition, resolved for the active network."""
    from crosswind.spec.document import parse_document

    if condition == "-":
        return setup.condition_in(parse_document(sys.stdin.buffer.read(_BYTES_READ_MAX), "standard input"))
    path = Path(condition)
    if not path.exists() and _INLINE.match(condition):
        return setup.condition_in(parse_document(condition.encode(), "condition").under("inline"))
    if path.exists() and not path.is_file():
        raise CrosswindError(
            f"{condition}: is not a regular file; write its content to one, or pass it on: "
            f"crosswind set - < {condition}"
        )
    return setup.condition(condition, known)
