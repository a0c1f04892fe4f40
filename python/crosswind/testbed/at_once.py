"""Do the same on several machines at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from crosswind.errors import CrosswindError
from crosswind.testbed.errors import AgentDied, FabricFault, NotHere, TestbedError

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def at_once(
    action: Callable[[_Item], _Made],
    items: Iterable[_Item],
    undo: Callable[[_Made], object] | None = None,
) -> list[_Made]:
    """Carry out an action for each item, each on a thread of its own; return the results in order.

    Args:
        undo: called with each result if the action fails for another item.
    Raises: CrosswindError: it failed; if for several items, the message has a line for each failure.
    """
    each = list(items)
    with ThreadPoolExecutor(max(1, len(each))) as pool:
        attempts = [pool.submit(action, item) for item in each]
        failures = [error for attempt in attempts if (error := attempt.exception()) is not None]
        made = [attempt.result() for attempt in attempts if attempt.exception() is None]
        if failures and undo is not None:
            list(pool.map(undo, made))
    if not failures:
        return made
    for failure in failures:
        if not isinstance(failure, CrosswindError):
            raise failure
    lines = list(dict.fromkeys(str(failure) for failure in failures))
    if len(lines) == 1:
        raise failures[0]
    kind: type[TestbedError] = TestbedError
    if all(isinstance(failure, NotHere) for failure in failures):
        kind = NotHere
    elif any(isinstance(failure, (AgentDied, FabricFault)) for failure in failures):
        # The next fabric then gets new agents.
        kind = AgentDied
    raise kind("\n".join(lines)) from failures[0]
