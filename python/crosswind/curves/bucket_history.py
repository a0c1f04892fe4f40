"""Check whether every trial started with the same level in a token bucket.

If a trial sends more than the refill until the next trial, the next one starts with a lower level. This has
no effect until the bucket is empty, and then everything changes. So the first ten trials look stationary, but
the next ten would be another experiment. Statistics of ten trials cannot show that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Levels are from counters or short probes, which agree within this share of the depth.
LEVEL_TOLERANCE = 0.02


@dataclass(frozen=True)
class BucketHistory:
    """The levels of a bucket that outlives trials, or the bytes sent through it where they are unknown.

    Attributes:
        refill_bps: bits per second that it gains, > 0.
        duration_s: of one trial; used where levels are unknown.
        rest_s: between trials.
        sent_bytes: by each trial, in the order they ran; used where levels are unknown.
        level_bytes: at the start of each trial; empty if unknown.
        left_bytes: at the end of each trial; empty if unknown.
        depth_bytes: level of the full bucket; None if unknown.
        name: for messages.
    """

    refill_bps: float
    duration_s: float = 0.0
    rest_s: float = 0.0
    sent_bytes: Sequence[float] = ()
    level_bytes: Sequence[float] = ()
    left_bytes: Sequence[float] = ()
    depth_bytes: float | None = None
    name: str = "the token bucket"

    @property
    def rest_needed_s(self) -> float:
        """The rest after which the bucket has regained what the largest trial took; 0 if that is unknown."""
        if self.level_bytes and self.left_bytes:
            taken = max(level - left for level, left in zip(self.level_bytes, self.left_bytes, strict=True))
            return max(0.0, 8 * taken / self.refill_bps)
        return max(0.0, 8 * max(self.sent_bytes, default=0.0) / self.refill_bps - self.duration_s)

    def fault(self) -> str | None:
        """Return the reason why trials did not start with the same level; None if there is none.

        If levels are known they decide, because a bucket that is reset or always empty does no harm.
        """
        if self.level_bytes:
            highest, least = max(self.level_bytes), min(self.level_bytes)
            if highest - least <= LEVEL_TOLERANCE * (self.depth_bytes or highest):
                return None
            return (
                f"{self.name} held {_bits(self.level_bytes[0])} when the first trial began, "
                f"{_bits(self.level_bytes[-1])} when the last one began; the lowest level was {_bits(least)}"
            )
        most = max(self.sent_bytes, default=0.0)
        refilled = self.refill_bps / 8 * (self.duration_s + self.rest_s)
        if most > refilled:
            return (
                f"a trial sent {_bits(most)}, and {self.name} regains {_bits(refilled)} until the next one "
                "begins: its level falls from trial to trial"
            )
        return None


def _bits(number_bytes: float) -> str:
    bits = 8 * number_bytes
    power = min(3, max(0, int(math.log10(bits) // 3))) if bits >= 1 else 0
    return f"{bits / 1000**power:.4g} {('bit', 'kbit', 'Mbit', 'Gbit')[power]}"
