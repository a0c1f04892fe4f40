"""Wait for what a process says when it is ready."""

import time
from collections.abc import Sequence
from pathlib import Path

from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process
from crosswind.testbed.outputs import printed

POLL_S = 0.02


def await_text(
    process: Process, output: Path, text: str, timeout_s: float, alive: Sequence[Process] = ()
) -> None:
    """Return when the output of a process has the text in it.

    Args:
        output: its standard output or standard error.
        alive: processes that must stay up meanwhile, beside this one.
    Raises: TestbedError: one of them ended, or the text was not there within `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    while text not in printed(output).text:
        for needed in (*alive, process):
            if needed.ended is not None:
                raise TestbedError(
                    f"{needed}: ended before {process} was ready ({needed.ended}); {needed.last_words()}"
                )
        if time.monotonic() > deadline:
            raise TestbedError(
                f'{process}: no "{text}" within {timeout_s:g} s; {process.last_words()}; '
                "is this machine overloaded?"
            )
        time.sleep(POLL_S)
