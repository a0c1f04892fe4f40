"""The eight clouds: the published sampler has its published moments, the corrected law has the quantiles."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

import pytest

from crosswind import catalog
from crosswind.spec import load_catalogue_condition
from crosswind.spec.ballani import QUANTILES_KBPS, Cloud, law

# Mean in Mbit/s and coefficient of variation of the published sampler, as simulated and as integrated.
PUBLISHED = {
    "A": (288.8, 0.557), "B": (647.4, 0.286), "C": (857.1, 0.121), "D": (178.4, 0.273),
    "E": (836.9, 0.029), "F": (731.3, 0.214), "G": (536.6, 0.136), "H": (544.8, 0.386),
}  # fmt: skip


def rounded_down(low: int, high: int, grid: int) -> Iterator[tuple[int, float]]:
    """Yield every multiple of `grid` that a uniform draw is rounded down to, with its probability."""
    for level in range(low // grid * grid, high, grid):
        yield level, (min(level + grid, high) - max(level, low)) / (high - low)


@pytest.mark.parametrize("cloud", get_args(Cloud))
def test_the_published_sampler_has_its_published_moments(cloud: Cloud) -> None:
    cells, grid = law(cloud, "published")
    assert [cell.weight for cell in cells] == [1, 1, 1, 1]
    drawn = [
        (level / 1e6, share / 4)
        for cell in cells
        for level, share in rounded_down(cell.low_bps, cell.high_bps, grid)
    ]
    mean = sum(level * share for level, share in drawn)
    variation = math.sqrt(sum(level**2 * share for level, share in drawn) - mean**2) / mean
    assert mean == pytest.approx(PUBLISHED[cloud][0], abs=0.1)
    assert variation == pytest.approx(PUBLISHED[cloud][1], abs=0.001)


@pytest.mark.parametrize("cloud", get_args(Cloud))
def test_the_corrected_law_has_the_quantiles(cloud: Cloud) -> None:
    cells, grid = law(cloud, "corrected")
    assert grid == 1
    assert sum(cell.weight for cell in cells) == 100
    assert [cell.weight for cell in cells] == [1, 24, 25, 25, 24, 1]
    assert [cell.high_bps for cell in cells[:-1]] == [1000 * kbps for kbps in QUANTILES_KBPS[cloud]]
    assert all(before.high_bps == after.low_bps for before, after in pairwise(cells))
    assert cells[0].low_bps > 0


@pytest.mark.parametrize("cloud", get_args(Cloud))
def test_the_catalogue_has_both_laws_of_every_cloud(cloud: Cloud) -> None:
    for suffix, tails in (("", "published"), ("-corrected", "corrected")):
        name = f"ballani-{cloud.lower()}{suffix}"
        assert name in catalog.condition_names()
        (element,) = load_catalogue_condition(name).by_place()["link"]
        assert (element.parameter("ballani"), element.parameter("tails")) == (cloud, tails)
