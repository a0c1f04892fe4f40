"""Noisy samples of a sender behind a token bucket with known parameters, in virtual time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace


@dataclass(frozen=True)
class SimulatedBucket:
    """A bucket in Gbit and Gbit/s. It starts full, or with `tokens`. At the low rate it gains nothing.

    Attributes:
        noise: coefficient of variation of a whole sample's rate.
        memory: correlation of a sample's noise with that of the one before it, in [0, 1).
    """

    high: float = 10.0
    low: float = 0.95
    refill: float = 0.95
    budget: float = 5400.0
    tokens: float | None = None
    noise: float = 0.02
    memory: float = 0.0

    def trace(
        self, on_off: Iterable[tuple[float, float]], sample_s: float, seed: int | Sequence[int]
    ) -> TrafficTrace:
        """Return samples of a sender at full speed that alternates between on and off, in s."""
        random = np.random.default_rng(seed)
        left = self.budget if self.tokens is None else self.tokens
        deviation, now_s, rows = random.standard_normal(), 0.0, []
        for on_s, off_s in on_off:
            for _ in range(round(on_s / sample_s)):
                factor = 1 + self.noise * deviation
                spent = self.high * factor - self.refill
                high_s = min(left / spent, sample_s) if spent > 0 else sample_s
                left = min(left - spent * high_s, self.budget) if high_s == sample_s else 0.0
                bits = factor * (self.high * high_s + self.low * (sample_s - high_s))
                rows.append((now_s, now_s + sample_s, bits))
                now_s += sample_s
                deviation = _next(deviation, self.memory, random)
            left = min(self.budget, left + self.refill * off_s)
            now_s += off_s
            deviation = _next(deviation, self.memory ** (off_s / sample_s), random)
        return TrafficTrace.of(*np.array(rows).T)


def _next(deviation: float, memory: float, random: np.random.Generator) -> float:
    return memory * deviation + float((1 - memory**2) ** 0.5 * random.standard_normal())
