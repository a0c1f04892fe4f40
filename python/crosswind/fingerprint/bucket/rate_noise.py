"""Deviations of samples from their rate, and how to draw new ones.

Correlated samples determine a mean as badly as few independent samples do. Short pieces hide how long the
correlation is: resampled blocks are then too short, and intervals from them too narrow (with a correlation of
0.8 they contained the true value in three of four traces). So deviations are drawn from a first-order
autoregression, whose coefficient (`memory`) and spread are drawn from their posterior distribution. Intervals
from few samples are then as wide as Student's, and wider where samples are correlated.

Negatively correlated samples are different: where a program writes whole blocks, the next sample lacks what
one has too much. They are resampled in blocks of neighbours.

Source: Zellner and Tiao 1964, "Bayesian analysis of the regression model with autocorrelated errors", JASA
59, with the prior 1 / sqrt(1 - memory^2) and a memory of at most 0.95: a stronger correlation is a change,
not noise. Blocks: Künsch 1989, Annals of Statistics 17 (of n^(1/3)); Politis and White 2004, Econometric
Reviews 23 (they grow with the range of the correlation, here to the first lag whose autocorrelation is
noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.ljung_box import autocorrelations

_MEMORIES = np.linspace(-0.95, 0.95, 191)


@dataclass(frozen=True)
class RateNoise:
    """Deviations of samples from their mean, in bit/s, in the order of time.

    Attributes:
        values_bps: shape (n,), n >= 1.
        begins: those that are independent of the one before, as after a rest; shape (k,), the first is 0.
    """

    values_bps: NDArray[np.float64]
    begins: NDArray[np.intp]

    def scaled(self, factor: float) -> RateNoise:
        """Return the noise of a rate that is `factor` times as high."""
        return RateNoise(self.values_bps * factor, self.begins)

    def drawn(self, count: int, begins: NDArray[np.intp], random: np.random.Generator) -> NDArray[np.float64]:
        """Draw `count` deviations, in bit/s; those at `begins` are independent of the one before."""
        size = self.values_bps.size
        if size < 2 or not self.values_bps.any():
            return np.zeros(count)
        likely, squares = self._memories
        if _MEMORIES[np.argmax(likely)] < -2 / size**0.5:
            return drawn_blocks(self.values_bps, count, random)
        pick = random.choice(_MEMORIES.size, p=likely)
        innovation = (squares[pick] / random.chisquare(size - 1)) ** 0.5
        return np.asarray(innovation * _autoregression(float(_MEMORIES[pick]), count, begins, random))

    @cached_property
    def _memories(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probability of each memory, and the sum of squares of its innovations.

        Mean and spread are integrated out.
        """
        memory, values, pieces = _MEMORIES, self.values_bps, self.begins.size
        first = values[self.begins]
        follows = np.ones(values.size, dtype=bool)
        follows[self.begins] = False
        now = values[follows]
        before = values[np.flatnonzero(follows) - 1]
        # The deviation of the first sample of a piece is weighted like an innovation.
        fresh = 1 - memory**2
        weight = pieces * fresh + now.size * (1 - memory) ** 2
        mean = (fresh * first.sum() + (1 - memory) * (now.sum() - memory * before.sum())) / weight
        squares = (
            fresh * (first**2).sum()
            + (now**2).sum()
            - 2 * memory * (now * before).sum()
            + memory**2 * (before**2).sum()
            - weight * mean**2
        )
        squares = np.maximum(squares, np.finfo(np.float64).tiny)
        log_likely = 0.5 * (
            (pieces - 1) * np.log(fresh) - np.log(weight) - (values.size - 1) * np.log(squares)
        )
        likely = np.exp(log_likely - log_likely.max())
        return likely / likely.sum(), squares


def _autoregression(
    memory: float, count: int, begins: NDArray[np.intp], random: np.random.Generator
) -> NDArray[np.float64]:
    """Return pieces that each start in the steady state, with innovations of variance 1."""
    from scipy.signal import lfilter  # Takes half a second to import, and few fingerprints have a bucket.

    innovations = random.standard_normal(count)
    innovations[begins] /= (1 - memory**2) ** 0.5
    values = np.asarray(lfilter([1.0], [1.0, -memory], innovations))
    # Remove what a piece inherited from the one before it.
    inherited = np.where(begins > 0, values[begins - 1], 0.0)
    lengths = np.diff(np.append(begins, count))
    age = np.arange(count) - np.repeat(begins, lengths)
    return np.asarray(values - np.repeat(inherited, lengths) * memory ** (age + 1.0))


def drawn_blocks(values: NDArray[np.float64], count: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Draw `count` values in blocks of neighbours; the first value follows the last one."""
    length = block_length(values)
    begins = random.integers(0, values.size, -(-count // length))
    picked = (begins[:, None] + np.arange(length)).ravel()[:count] % values.size
    return np.asarray(values[picked])


def block_length(values: NDArray[np.float64]) -> int:
    """Return the length of a block: twice the range of the correlation."""
    size = values.size
    shortest = int(np.ceil(size ** (1 / 3)))
    lags = size // 4
    if lags < 2:
        return 1
    known = np.abs(autocorrelations(values, lags)) >= 2 / size**0.5
    first_noise = int(np.argmin(known)) if not known.all() else lags
    return min(max(shortest, 2 * first_noise), lags)
