"""A law of rates by its quantiles: even between two of them, and beyond the outer ones as next to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd

CERTAIN_PPB = 10**9


@dataclass(frozen=True)
class Cell:
    """A range of rates, uniform inside; `weight` is its share of the sum of weights."""

    low_bps: int
    high_bps: int
    weight: int


def cells_of(quantiles: Sequence[tuple[int, int]]) -> list[Cell]:
    """Return the cells of a law.

    Args:
        quantiles: shares in parts per billion, ascending, at least two, and the rate that each of them is
            below; rates do not descend. What lies beyond the outer shares continues the density of the
            cell next to it, and not below 0.
    """
    cells = [Cell(low, high, share - before) for (before, low), (share, high) in pairwise(quantiles)]
    first, last = quantiles[0][0], CERTAIN_PPB - quantiles[-1][0]
    below, above = (
        round(Fraction(end.high_bps - end.low_bps, end.weight) * share)
        for end, share in ((cells[0], first), (cells[-1], last))
    )
    lowest, highest = cells[0].low_bps, cells[-1].high_bps
    if first:
        cells.insert(0, Cell(max(0, lowest - below), lowest, first))
    if last:
        cells.append(Cell(highest, highest + above, last))
    common = gcd(*(cell.weight for cell in cells))
    return [Cell(cell.low_bps, cell.high_bps, cell.weight // common) for cell in cells]
