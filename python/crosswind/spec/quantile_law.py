"""A distribution of rates from its quantiles: uniform between two, and extended beyond the outer ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd

CERTAIN_PPB = 10**9


@dataclass(frozen=True)
class RateCell:
    """A range of rates, uniform inside; its probability is `weight` divided by the sum of weights."""

    low_bps: int
    high_bps: int
    weight: int


def cells_of(quantiles: Sequence[tuple[int, int]]) -> list[RateCell]:
    """Return the cells of a distribution.

    Beyond the outer quantiles the density is that of the next cell; rates do not go below 0.

    Args:
        quantiles: at least two, each a share in parts per billion and its rate; shares ascend, and rates do
            not descend.
    """
    cells = [RateCell(low, high, share - before) for (before, low), (share, high) in pairwise(quantiles)]
    first, last = quantiles[0][0], CERTAIN_PPB - quantiles[-1][0]
    below, above = (
        round(Fraction(end.high_bps - end.low_bps, end.weight) * share)
        for end, share in ((cells[0], first), (cells[-1], last))
    )
    lowest, highest = cells[0].low_bps, cells[-1].high_bps
    if first:
        cells.insert(0, RateCell(max(0, lowest - below), lowest, first))
    if last:
        cells.append(RateCell(highest, highest + above, last))
    common = gcd(*(cell.weight for cell in cells))
    return [RateCell(cell.low_bps, cell.high_bps, cell.weight // common) for cell in cells]
