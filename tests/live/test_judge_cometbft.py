"""CometBFT judges the network: 13 validators in the 13 zones of its own matrix."""

from __future__ import annotations

import os
from statistics import fmean, median
from typing import TYPE_CHECKING

import pytest

from bench.judges.cometbft import Chain, Zones, apart, blocks, cut_off, round_trips, together, zones
from bench.judges.cometbft_figures import AMERICAS, CUT_S
from bench.judges.programs import COMETBFT
from bench.judges.votes import agreements
from crosswind.app.requirements import CannotInstall

if TYPE_CHECKING:
    from conftest import Live

pytestmark = pytest.mark.long


@pytest.fixture
def matrix(live: Live) -> Zones:
    try:
        COMETBFT.install(print)
    except CannotInstall as reason:
        pytest.skip(f"SKIPPED: {reason}")
    return zones()


def test_round_trips_are_those_of_its_matrix(matrix: Zones) -> None:
    with apart(matrix) as net:
        found = round_trips(net)
    assert len(found) == 13 * 12
    assert matrix.wrong(found) == {}


@pytest.mark.alone
def test_blocks_come_later_by_what_its_matrix_says(live: Live, matrix: Zones) -> None:
    """By what a proposal and two rounds of votes take; the machine's own work overlaps with a part of it."""
    if (load := os.getloadavg()[0]) > 3:
        pytest.skip(f"SKIPPED: under a load average of {load:.1f} blocks wait for CPUs, not for votes")
    median_s = []
    for network in (apart, together):
        folder = live.folder / network.__name__
        folder.mkdir()
        with network(matrix) as net:
            found = blocks(net, folder, rounds=1)
        median_s.append(median(found.intervals_s))
    expected_s = fmean(agreements(matrix.delay_ms, found.order)) / 1e3
    assert median_s[0] - median_s[1] == pytest.approx(expected_s, rel=0.3)


def test_it_stops_without_more_than_two_thirds_and_goes_on_after_healing(live: Live, matrix: Zones) -> None:
    away = [name for name, zone in matrix.validators.items() if zone in AMERICAS]
    with apart(matrix) as net:
        chain = Chain(net, live.folder)
        chain.await_height(3, 60)
        four, five = (cut_off(net, chain, away[:count], CUT_S) for count in (4, 5))
    # 9 of 13 are more than two thirds; 8 are not.
    assert (four.blocks > 0, four.blocks_away) == (True, 0)
    assert (five.blocks, five.blocks_away) == (0, 0)
    # A sender tries again after at most as long as it has waited before.
    assert five.all_after_s < 2 * CUT_S
