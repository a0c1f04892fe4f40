"""One of the rates that a sender was given, with all samples of it: its value, and what could have been.

What could have been is the same rate with other noise (`rate_noise.py`). A level of next to no samples says
nothing of its noise; it borrows the other one's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.bucket.rate_noise import RateNoise
from crosswind.fingerprint.bucket.volume_line import slope

# Fewer samples than this borrow their noise from a level with more: they do not say how long its memory is.
_FEW = 10


@dataclass(frozen=True)
class RateLevel:
    """Samples of one rate, in the order of time, with what came between them left out.

    Attributes:
        lengths_s, rates_bps: of each sample; shape (n,), n >= 1.
        begins: the first sample of each piece that has no other rate and no rest in it; shape (k,).
    """

    lengths_s: NDArray[np.float64]
    rates_bps: NDArray[np.float64]
    begins: NDArray[np.intp]

    @classmethod
    def of(cls, pieces: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> RateLevel:
        """Return the level of pieces, each as the lengths of its samples and their rates."""
        sizes = [lengths_s.size for lengths_s, _ in pieces]
        return cls(
            np.concatenate([lengths_s for lengths_s, _ in pieces]),
            np.concatenate([rates_bps for _, rates_bps in pieces]),
            np.cumsum([0, *sizes[:-1]]),
        )

    @cached_property
    def bps(self) -> float:
        """The rate: the slope of the volume, which a dip does not move."""
        at_s = np.concatenate([[0.0], np.cumsum(self.lengths_s)])
        return slope(at_s, np.concatenate([[0.0], np.cumsum(self.rates_bps * self.lengths_s)]))

    def noise(self, other: RateLevel | None = None) -> RateNoise:
        """Return how samples deviate from the rate.

        Args:
            other: a level to borrow from where this one has few samples.
        """
        mean_bps = float(np.average(self.rates_bps, weights=self.lengths_s))
        own = RateNoise(self.rates_bps - mean_bps, self.begins)
        size = self.rates_bps.size
        if other is None or size >= min(_FEW, other.rates_bps.size) or other.bps <= 0:
            return own
        # Volumes of whole periods are steadier once the bucket is empty: then the larger noise is its own.
        borrowed = other.noise().scaled(self.bps / other.bps)
        return max(own, borrowed, key=lambda noise: float(noise.values_bps.std()))

    def drawn_rates(self, noise: RateNoise, random: np.random.Generator) -> NDArray[np.float64]:
        """Return what its samples could have been, in bit/s."""
        return self.bps + noise.drawn(self.rates_bps.size, self.begins, random)

    def pieces(self, rates_bps: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return one value for each of its samples by piece."""
        return np.split(rates_bps, self.begins[1:])
