"""One of the two rates of a trace, with all its samples: its value, and resampled rates.

Resampled rates are the same rate with other noise (`rate_noise.py`). A level with very few samples does not
show its noise, so it uses the noise of the other level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.bucket.rate_noise import RateNoise
from crosswind.fingerprint.bucket.volume_line import slope

# With fewer samples the correlation of the noise is unknown: then the noise of the other level is used.
_FEW = 10


@dataclass(frozen=True)
class RateLevel:
    """Samples of one rate, in the order of time; samples of the other rate are left out.

    Attributes:
        lengths_s, rates_bps: of each sample; shape (n,), n >= 1.
        begins: the first sample of each piece without a rest or the other rate in it; shape (k,).
    """

    lengths_s: NDArray[np.float64]
    rates_bps: NDArray[np.float64]
    begins: NDArray[np.intp]

    @classmethod
    def of(cls, pieces: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> RateLevel:
        """Return the level of pieces, each given as the lengths of its samples and their rates."""
        sizes = [lengths_s.size for lengths_s, _ in pieces]
        return cls(
            np.concatenate([lengths_s for lengths_s, _ in pieces]),
            np.concatenate([rates_bps for _, rates_bps in pieces]),
            np.cumsum([0, *sizes[:-1]]),
        )

    @cached_property
    def bps(self) -> float:
        """The rate: the slope of the volume, on which a dip has no effect."""
        at_s = np.concatenate([[0.0], np.cumsum(self.lengths_s)])
        return slope(at_s, np.concatenate([[0.0], np.cumsum(self.rates_bps * self.lengths_s)]))

    def noise(self, other: RateLevel | None = None) -> RateNoise:
        """Return how samples deviate from the rate.

        Args:
            other: the level whose noise is used where this one has few samples.
        """
        mean_bps = float(np.average(self.rates_bps, weights=self.lengths_s))
        own = RateNoise(self.rates_bps - mean_bps, self.begins)
        size = self.rates_bps.size
        if other is None or size >= min(_FEW, other.rates_bps.size) or other.bps <= 0:
            return own
        # Volumes of whole periods vary less once the bucket is empty: then its own noise is the larger one.
        borrowed = other.noise().scaled(self.bps / other.bps)
        return max(own, borrowed, key=lambda noise: float(noise.values_bps.std()))

    def drawn_rates(self, noise: RateNoise, random: np.random.Generator) -> NDArray[np.float64]:
        """Return resampled rates of its samples, in bit/s."""
        return self.bps + noise.drawn(self.rates_bps.size, self.begins, random)

    def pieces(self, rates_bps: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return values of its samples, split into pieces."""
        return np.split(rates_bps, self.begins[1:])
