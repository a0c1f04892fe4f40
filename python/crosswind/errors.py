"""The base of every error that is the caller's or the machine's business, and the exit statuses they lead to.

Anything that is not a `CrosswindError` is a fault in Crosswind itself and exits with `Exit.INTERNAL`.
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the process's exit status says to a script."""

    DONE = 0
    INTERNAL = 1
    USAGE = 2  # Wrong command line or invalid file.
    PREFLIGHT = 3  # This machine cannot honour the request.
    TRIALS = 4  # Trials failed or are void.
    REGRESSION = 5  # `check` found one.
    UNDECIDED = 6  # More trials are needed, or trials are not independent; the message says what would help.
    NOT_COMPARABLE = 7  # The fingerprints differ.
    CLEANUP_INCOMPLETE = 8


class CrosswindError(Exception):
    """An error to show without a traceback; its text names thing, value, rule and remedy.

    Attributes:
        exit: the status that the command line ends with.
        names_its_place: every line of the text begins with a file and a place in it, for editors to jump to.
    """

    exit: Exit = Exit.USAGE
    names_its_place: bool = False
