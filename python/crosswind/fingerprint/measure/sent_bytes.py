"""How much a fingerprint may send, and has sent.

What comes next is judged before it is sent: by its bytes where they are known, and else as so many seconds at
the fastest rate that was seen, with room for a faster one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from crosswind.errors import CrosswindError
from crosswind.fingerprint.measure.bulk import Bulk

# Of a path that gave so much a moment ago, in case it has more to give.
_ROOM = 1.5


class TooMuch(CrosswindError):
    """What comes next would exceed what was declared; nothing of it was sent."""


class SentBytes:
    """The account of one fingerprint.

    Args:
        most_bytes: payload that may be sent in all; None is no limit.
        allow: is asked for more when it does not suffice, told what for.
    """

    def __init__(self, most_bytes: int | None, allow: Callable[[str], bool] = lambda _: False) -> None:
        self.most_bytes = most_bytes
        self._allow = allow
        self.sent_bytes = 0
        self.fastest_bps = 0.0

    def expect(self, more_bytes: float, what: str) -> None:
        """Check that there is room for so much more, or is made.

        Raises: TooMuch: there is not.
        """
        needed_bytes = self.sent_bytes + more_bytes
        if self.most_bytes is None or needed_bytes <= self.most_bytes:
            return
        exceeds = (
            f"{what}: about {_text(more_bytes)}, after {_text(self.sent_bytes)}, is more than the "
            f"{_text(self.most_bytes)} that may be sent"
        )
        if not self._allow(exceeds):
            raise TooMuch(
                f"{exceeds}; allow more with --send-at-most {_text(2 * needed_bytes)}, or measure less"
            )
        # Twice, as the refusal says: the parts of a fingerprint are foreseen roughly.
        self.most_bytes = math.ceil(2 * needed_bytes)

    def expect_seconds(self, seconds: float, what: str) -> None:
        """Check that there is room for so many seconds at the fastest rate seen.

        Raises: TooMuch: there is not.
        """
        self.expect(_ROOM * self.fastest_bps / 8 * seconds, what)

    def add(self, more_bytes: int) -> None:
        """Count what was sent."""
        self.sent_bytes += more_bytes

    def count(self, transfer: Bulk) -> None:
        """Count a transfer, and remember its rate."""
        self.add(transfer.moved_bytes)
        self.fastest_bps = max(self.fastest_bps, transfer.fastest_bps)


def _text(size_bytes: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.3g}{name}"
    return f"{size_bytes:.0f}B"
