"""Ctrl-C and SIGTERM: they end the trial in progress, but never a write to the journal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from crosswind.errors import CrosswindError, Exit


class Interrupted(CrosswindError):
    """The user or another process ended this one with a signal."""

    exit = Exit.TRIALS

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")


class Interruption:
    """Handlers for SIGINT and SIGTERM that raise `Interrupted` only inside `allowed`.

    Elsewhere the signal is remembered until `check` or the next `allowed`, so a second Ctrl-C cannot
    interrupt the undoing of a trial. Use it in the main thread, as a context manager through `handling`.
    """

    def __init__(self) -> None:
        self._pending: int | None = None
        self._allowed = False

    @contextmanager
    def handling(self) -> Iterator["Interruption"]:
        """Handle the signals inside the block."""
        previous = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let a signal raise `Interrupted` inside the block, at once."""
        self.check()
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False

    def check(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self._pending is not None:
            raise Interrupted(self._pending)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._pending = number
        if self._allowed:
            self._allowed = False
            raise Interrupted(number)
