"""How much a fingerprint may send, and has sent.

What comes next is judged before it is sent: by its bytes where they are known, and else as so many seconds at
the fastest rate that was seen, with room for a faster one.
"""

from __future__ import annotations

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
    """

    def __init__(self, most_bytes: int | None) -> None:
        self.most_bytes = most_bytes
        self.sent_bytes = 0
        self.fastest_bps = 0.0

    def expect(self, more_bytes: float, what: str) -> None:
        """Check that there is room for so much more.

        Raises: TooMuch: there is not.
        """
        if self.most_bytes is None or self.sent_bytes + more_bytes <= self.most_bytes:
            return
        raise TooMuch(
            f"{what}: about {_text(more_bytes)}, after {_text(self.sent_bytes)}, is more than the "
            f"{_text(self.most_bytes)} that may be sent; allow more with --send-at-most "
            f"{_text(2 * (self.sent_bytes + more_bytes))}, or measure less"
        )

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
