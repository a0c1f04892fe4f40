"""The volume that a sender at full speed got over time: samples, with rests between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Samples that are no further apart belong to one phase: clocks and schedulers leave small gaps.
GAP_S = 0.05


@dataclass(frozen=True)
class TrafficTrace:
    """Volumes between instants; each array has shape (n,), n >= 1, in the order of time.

    Attributes:
        begin_s, end_s: of each sample, on one clock.
        bits: carried in it.
    """

    begin_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    bits: NDArray[np.float64]

    @classmethod
    def of(cls, begin_s: ArrayLike, end_s: ArrayLike, bits: ArrayLike) -> TrafficTrace:
        """Return a trace of checked samples.

        Raises: ValueError: there are no samples, their numbers differ, or one has no duration, overlaps, is
            not in order, or has no volume of zero or more bits; names the first one.
        """
        begin, end, volume = (np.asarray(values, dtype=np.float64) for values in (begin_s, end_s, bits))
        if not begin.size or not begin.shape == end.shape == volume.shape or begin.ndim != 1:
            raise ValueError(f"samples: {begin.shape} begins, {end.shape} ends, {volume.shape} volumes")
        _refuse(~(np.isfinite(begin) & np.isfinite(end) & (end > begin)), "has no duration")
        _refuse(~(np.isfinite(volume) & (volume >= 0)), "has no volume of zero or more bits")
        _refuse(
            np.concatenate([[False], begin[1:] < end[:-1] - 1e-9]), "begins before the one before it ends"
        )
        return cls(begin, end, volume)

    @property
    def rate_bps(self) -> NDArray[np.float64]:
        """The mean rate of each sample."""
        return self.bits / (self.end_s - self.begin_s)

    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return instants since the start and the volume until each, in s and bits; shapes (n + 1,)."""
        at_s = np.concatenate([self.begin_s[:1], self.end_s]) - self.begin_s[0]
        return at_s, np.concatenate([[0.0], np.cumsum(self.bits)])

    def phases(self) -> Iterator[TrafficTrace]:
        """Yield the phases: samples between two rests."""
        borders = np.flatnonzero(self.begin_s[1:] - self.end_s[:-1] > GAP_S) + 1
        for part in np.split(np.arange(self.bits.size), borders):
            yield TrafficTrace(self.begin_s[part], self.end_s[part], self.bits[part])


def _refuse(wrong: NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        raise ValueError(f"sample {int(np.argmax(wrong))} {what}")
