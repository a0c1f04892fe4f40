"""Wait for the output of a process that shows that it is ready."""

import time
from collections.abc import Callable, Sequence

from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

POLL_S = 0.02


def await_text(
    process: Process, output: Callable[[], str], text: str, timeout_s: float, alive: Sequence[Process] = ()
) -> None:
    """Return when the output of a process contains the text.

    Args:
        output: returns its standard output or standard error.
        alive: other processes that must not end meanwhile.
    Raises: TestbedError: a process ended, or the text did not appear within `timeout_s`.
    """
    deadline = process.now_s() + timeout_s
    while text not in output():
        for needed in (*alive, process):
            if needed.ended is not None:
                raise TestbedError(
                    f"{needed}: ended before {process} was ready ({needed.ended}); {needed.last_words()}"
                )
        if process.now_s() > deadline:
            raise TestbedError(
                f'{process}: no "{text}" within {timeout_s:g} s; {process.last_words()}; '
                "is this machine overloaded?"
            )
        time.sleep(POLL_S)
