"""One of the rates that a sender was given, with all samples of it: its value, and what could have been.

Samples are drawn anew as blocks of neighbours, as long as neighbours know of each other, so that what is
correlated stays so. Few deviations from their own middle are smaller than those from the truth, which is made
up for. A level of next to no samples says nothing of its spread; it borrows the other one's.

Source: Künsch 1989, "The jackknife and the bootstrap for general stationary observations", Annals of
Statistics 17 (blocks of n^(1/3)); Politis and White 2004, Econometric Reviews 23 (blocks grow with the range
of the correlation, here to the first lag whose autocorrelation is noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.bucket.volume_line import slope
from crosswind.stats.ljung_box import autocorrelations

# Fewer samples than this borrow their spread.
_FEW = 5


@dataclass(frozen=True)
class RateLevel:
    """Samples of one rate, in the order of time, with what came between them left out.

    Attributes:
        lengths_s, rates_bps: of each sample; shape (n,), n >= 1.
    """

    lengths_s: NDArray[np.float64]
    rates_bps: NDArray[np.float64]

    @cached_property
    def bps(self) -> float:
        """The rate: the slope of the volume, which a dip does not move."""
        at_s = np.concatenate([[0.0], np.cumsum(self.lengths_s)])
        return slope(at_s, np.concatenate([[0.0], np.cumsum(self.rates_bps * self.lengths_s)]))

    def deviations(self, other: RateLevel | None = None) -> NDArray[np.float64]:
        """Return how samples deviate from the rate, in bit/s.

        Args:
            other: a level to borrow from where this one has few samples.
        """
        if self.rates_bps.size < _FEW and other is not None and other.bps > 0:
            return other.deviations() * (self.bps / other.bps)
        mean = float(np.average(self.rates_bps, weights=self.lengths_s))
        size = self.rates_bps.size
        return np.asarray((self.rates_bps - mean) * (size / max(size - 1, 1)) ** 0.5)

    def redrawn(self, deviations: NDArray[np.float64], random: np.random.Generator) -> RateLevel:
        """Return a level with the same rate whose samples deviate otherwise."""
        return RateLevel(self.lengths_s, self.bps + drawn(deviations, self.rates_bps.size, random))


def drawn(values: NDArray[np.float64], count: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Draw so many values, in blocks of neighbours; behind the last one comes the first."""
    length = block_length(values)
    begins = random.integers(0, values.size, -(-count // length))
    picked = (begins[:, None] + np.arange(length)).ravel()[:count] % values.size
    return np.asarray(values[picked])


def block_length(values: NDArray[np.float64]) -> int:
    """Return how many neighbours are drawn together: twice as many as know of each other."""
    size = values.size
    shortest = int(np.ceil(size ** (1 / 3)))
    lags = size // 4
    if lags < 2:
        return 1
    known = np.abs(autocorrelations(values, lags)) >= 2 / size**0.5
    first_noise = int(np.argmin(known)) if not known.all() else lags
    return min(max(shortest, 2 * first_noise), lags)
