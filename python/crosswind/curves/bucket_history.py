"""Whether every trial found the same amount in a token bucket: history that no statistics can see at first.

A trial that sends more than the bucket is refilled by until the next one begins leaves it less. Nothing shows
while the bucket lasts, and then everything changes: the first ten trials look stationary and are not the
experiment that the next ten would be.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Levels are read from counters or measured in short probes, which agree within this share of the depth.
LEVEL_TOLERANCE = 0.02


@dataclass(frozen=True)
class BucketHistory:
    """What a bucket that outlives trials held, or was asked for where that is not known.

    Attributes:
        refill_bps: bits per second that it gains, > 0.
        duration_s: of one trial; counts where levels are not known.
        rest_s: between trials.
        sent_bytes: by each trial, in the order they ran; counts where levels are not known.
        level_bytes: at the start of each trial; empty if not known.
        left_bytes: at the end of each trial; empty if not known.
        depth_bytes: what it holds when it is full; None if not known.
        name: what it is called.
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
        """The rest after which the hungriest trial has been paid back; 0 where nothing says what it took."""
        if self.level_bytes and self.left_bytes:
            taken = max(level - left for level, left in zip(self.level_bytes, self.left_bytes, strict=True))
            return max(0.0, 8 * taken / self.refill_bps)
        return max(0.0, 8 * max(self.sent_bytes, default=0.0) / self.refill_bps - self.duration_s)

    def fault(self) -> str | None:
        """Return in words why trials did not start alike, None if nothing speaks against it.

        Levels decide where they are known: a bucket that is reset, or was empty all the time, drains nobody.
        """
        if self.level_bytes:
            highest, least = max(self.level_bytes), min(self.level_bytes)
            if highest - least <= LEVEL_TOLERANCE * (self.depth_bytes or highest):
                return None
            return (
                f"{self.name} held {_bits(self.level_bytes[0])} when the first trial began, "
                f"{_bits(self.level_bytes[-1])} when the last one did, and {_bits(least)} at the least"
            )
        most = max(self.sent_bytes, default=0.0)
        refilled = self.refill_bps / 8 * (self.duration_s + self.rest_s)
        if most > refilled:
            return (
                f"a trial sent {_bits(most)}, and {self.name} regains {_bits(refilled)} until the next one "
                "begins: it drains from trial to trial"
            )
        return None


def _bits(number_bytes: float) -> str:
    bits = 8 * number_bytes
    power = min(3, max(0, int(math.log10(bits) // 3))) if bits >= 1 else 0
    return f"{bits / 1000**power:.4g} {('bit', 'kbit', 'Mbit', 'Gbit')[power]}"
