"""Bandwidth between virtual machines in eight clouds, as a distribution that a link's capacity is drawn from.

Five quantiles of each cloud are known. The published emulator chooses one of the four cells between them with
equal probability, and then a whole number of Mbit/s in that cell. So it never draws below the 1 % or above
the 99 % quantile, and it draws from each outer cell, which holds 24 %, with 25 %. Both distributions are
here: as `published`, and as `corrected`.

The outer 1 % are unknown. The corrected distribution extends each outer cell with its density.

Source: quantiles read from figure 1 of Ballani, Costa, Karagiannis, Rowstron 2011, "Towards Predictable
Datacenter Networks", SIGCOMM, by Uta et al. 2020, "Is Big Data Performance Reproducible in Modern Cloud
Networks?", NSDI, and published with their emulator (github.com/alexandru-uta/bandwidth_emulator).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from crosswind.spec.quantile_law import RateCell, cells_of

Cloud = Literal["A", "B", "C", "D", "E", "F", "G", "H"]
Tails = Literal["published", "corrected"]

# Quantiles 1, 25, 50, 75 and 99 % in kbit/s.
QUANTILES_KBPS: dict[Cloud, tuple[int, int, int, int, int]] = {
    "A": (60_344, 149_999, 263_793, 384_482, 653_448),
    "B": (308_620, 503_448, 646_551, 789_655, 991_379),
    "C": (555_172, 841_379, 901_724, 934_482, 946_551),
    "D": (112_068, 137_931, 170_689, 199_999, 298_275),
    "E": (774_137, 824_137, 851_724, 855_172, 858_620),
    "F": (268_965, 729_310, 777_586, 820_689, 925_862),
    "G": (334_482, 529_310, 537_931, 600_000, 624_137),
    "H": (136_206, 425_862, 525_862, 660_344, 998_275),
}

_MBPS = 1_000_000
_SHARES_PPB = (10_000_000, 250_000_000, 500_000_000, 750_000_000, 990_000_000)


def law(cloud: Cloud, tails: Tails) -> tuple[list[RateCell], int]:
    """Return the cells of a cloud's distribution, and the grid, in bit/s, that draws are rounded down to."""
    quantiles = [1000 * kbps for kbps in QUANTILES_KBPS[cloud]]
    if tails == "published":
        # int(uniform(low, high + 1)) in Mbit/s.
        return [RateCell(low, high + _MBPS, 1) for low, high in pairwise(quantiles)], _MBPS
    return cells_of(list(zip(_SHARES_PPB, quantiles, strict=True))), 1
