"""Errors between Crosswind and the machine; each message names thing, value, rule and remedy."""

from crosswind.errors import CrosswindError, Exit


class TestbedError(CrosswindError):
    """Something on this machine failed that a trial needs; the text is the reason of its failure."""

    __test__ = False  # The name begins with "Test"; pytest must not collect it.
    exit = Exit.TRIALS


class NotHere(TestbedError):
    """This machine lacks something that the request needs; nothing was started."""

    exit = Exit.PREFLIGHT


class AgentDied(TestbedError):
    """The agent ended unexpectedly, or does not answer; everything that it had made is gone."""


class AgentRefused(TestbedError):
    """The agent answered a request with an error.

    Attributes:
        kind: `invalid` (our request was wrong), `preflight` (this machine cannot) or `internal` (its own
        fault).
    """

    def __init__(self, request: str, kind: str, message: str, title: str = "agent") -> None:
        super().__init__(f"{title} refused {request!r}: {message}")
        self.kind = kind
        if kind == "preflight":
            self.exit = Exit.PREFLIGHT


class FabricFault(TestbedError):
    """The emulator failed; measurements since then are not valid."""
