"""Count what a fingerprint sends, and enforce its limit.

Each measurement is checked before it sends: by its bytes where they are known, otherwise by its seconds at
the fastest rate so far, with a margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from crosswind.errors import CrosswindError
from crosswind.fingerprint.measure.bulk import Bulk

# The margin: a path may get faster than it has been.
_ROOM = 1.5


class TooMuch(CrosswindError):
    """A measurement would exceed the limit; it sent nothing."""


class SentBytes:
    """What one fingerprint has sent.

    Args:
        most_bytes: limit of the payload, in total; None is no limit.
        allow: is called with the reason when the limit does not suffice; returns whether to raise it.
    """

    def __init__(self, most_bytes: int | None, allow: Callable[[str], bool] = lambda _: False) -> None:
        self.most_bytes = most_bytes
        self._allow = allow
        self.sent_bytes = 0
        self.fastest_bps = 0.0

    def expect(self, more_bytes: float, what: str) -> None:
        """Check that `more_bytes` may still be sent, or that the limit may be raised.

        Raises: TooMuch: they may not.
        """
        needed_bytes = self.sent_bytes + more_bytes
        if self.most_bytes is None or needed_bytes <= self.most_bytes:
            return
        exceeds = (
            f"{what}: takes about {_text(more_bytes)} after {_text(self.sent_bytes)}, which exceeds the "
            f"limit of {_text(self.most_bytes)}"
        )
        if not self._allow(exceeds):
            raise TooMuch(
                f"{exceeds}; allow more with --send-at-most {_text(2 * needed_bytes)}, or measure less"
            )
        # Twice, as in the message: the prediction is rough.
        self.most_bytes = math.ceil(2 * needed_bytes)

    def expect_seconds(self, seconds: float, what: str) -> None:
        """Check that sending at the fastest rate so far for `seconds` stays within the limit.

        Raises: TooMuch: it does not.
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
