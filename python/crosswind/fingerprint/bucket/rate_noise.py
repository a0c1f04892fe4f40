"""How samples of one rate deviate from it, and deviations that could have been.

Noise with a memory moves a mean as few independent samples would, and short pieces hide how long the memory
is: blocks of neighbours that are drawn anew are then too short, and intervals from them too narrow (with a
correlation of 0.8 they held the truth in three of four traces). So what is drawn is an autoregression of
first order, whose memory and spread are themselves drawn from what the samples leave possible. That makes
intervals of few samples as wide as Student's, and wider where samples know of each other.

Samples that take turns are no such noise: where a program writes whole blocks, what one sample has too much
the next one lacks. They are drawn as blocks of neighbours.

Source: Zellner and Tiao 1964, "Bayesian analysis of the regression model with autocorrelated errors", JASA
59, with the prior 1 / sqrt(1 - memory^2) and a memory of at most 0.95: what knows of more is no noise but a
change. Blocks: Künsch 1989, Annals of Statistics 17 (of n^(1/3)); Politis and White 2004, Econometric Reviews
23 (they grow with the range of the correlation, here to the first lag whose autocorrelation is noise).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from crosswind.stats.ljung_box import autocorrelations

_MEMORIES = np.linspace(-0.95, 0.95, 191)


@dataclass(frozen=True)
class RateNoise:
    """Deviations of samples from their mean, in bit/s, in the order of time.

    Attributes:
        values_bps: shape (n,), n >= 1.
        begins: which of them know nothing of the one before, as after a rest; shape (k,), the first is 0.
    """

    values_bps: NDArray[np.float64]
    begins: NDArray[np.intp]

    def scaled(self, factor: float) -> RateNoise:
        """Return the noise of a rate that is so many times as high."""
        return RateNoise(self.values_bps * factor, self.begins)

    def drawn(self, count: int, begins: NDArray[np.intp], random: np.random.Generator) -> NDArray[np.float64]:
        """Draw so many deviations, in bit/s; those at `begins` know nothing of the one before."""
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
        """Return how likely each memory is, and the sum of squares that its innovations would have.

        Mean and spread are integrated out: only the memory is left to be likely or not.
        """
        memory, values, pieces = _MEMORIES, self.values_bps, self.begins.size
        first = values[self.begins]
        follows = np.ones(values.size, dtype=bool)
        follows[self.begins] = False
        now = values[follows]
        before = values[np.flatnonzero(follows) - 1]
        # Of a piece's first sample the deviation counts as much as an innovation would.
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
    """Return pieces that each begin in the steady state, with innovations of variance 1."""
    innovations = random.standard_normal(count)
    innovations[begins] /= (1 - memory**2) ** 0.5
    values = np.asarray(lfilter([1.0], [1.0, -memory], innovations))
    # What a piece inherited from the one before it is taken off again.
    inherited = np.where(begins > 0, values[begins - 1], 0.0)
    lengths = np.diff(np.append(begins, count))
    age = np.arange(count) - np.repeat(begins, lengths)
    return np.asarray(values - np.repeat(inherited, lengths) * memory ** (age + 1.0))


def drawn_blocks(values: NDArray[np.float64], count: int, random: np.random.Generator) -> NDArray[np.float64]:
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
