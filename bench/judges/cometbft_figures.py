"""What CometBFT found, as lines of a page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median

from bench.judges.cometbft import (
    PINGS,
    Blocks,
    Chain,
    CutOff,
    Pair,
    RoundTrip,
    Zones,
    apart,
    blocks,
    cut_off,
    round_trips,
    together,
    zones,
)
from bench.judges.programs import COMETBFT
from bench.judges.votes import agreements

# On one side of two oceans, by CometBFT's names: with the last one they are more than a third of 13.
AMERICAS = ("N_Virginia", "Canada", "N_California", "Oregon", "S_Paulo")
CUT_S = 20.0
# In which every validator proposes a block.
ROUNDS = 2


def lines(folder: Path) -> Iterator[str]:
    """Yield the title, and the lines below it."""
    COMETBFT.install(print)
    matrix = zones()
    with apart(matrix) as net:
        trips = round_trips(net)
        there = blocks(net, _empty(folder / "apart"), ROUNDS)
    with together(matrix) as net:
        here = blocks(net, _empty(folder / "together"), ROUNDS)
    yield "CometBFT 1.0.1: 13 validators"
    yield (
        "13 validators with the built-in `kvstore` and no transactions, one in each of the 13 zones of "
        "CometBFT's own matrix. All are connected with all."
    )
    yield ""
    yield "| figure | expected | measured |"
    yield "|---|---|---|"
    yield from _round_trips(matrix, trips)
    yield from _blocks(fmean(agreements(matrix.delay_ms, there.order)), here, there)
    away = [name for name, zone in matrix.validators.items() if zone in AMERICAS]
    with apart(matrix) as net:
        chain = Chain(net, _empty(folder / "cut"))
        chain.await_height(3, 60)
        for count, expected in ((4, "some, none"), (5, "none, none")):
            yield from _cut(cut_off(net, chain, away[:count], CUT_S), expected)
    yield ""
    yield (
        "The rise is computed from the matrix alone: a proposal and two rounds of votes of 9 of 13, each by "
        "the fastest way. The validators' own work for a block is not in it: on two CPUs it takes longer "
        "where all votes arrive at once, and where other programs run."
    )
    yield f"The load average was {os.getloadavg()[2]:.1f}."


def _round_trips(matrix: Zones, trips: dict[Pair, RoundTrip]) -> Iterator[str]:
    least_us = [(trip.least - matrix.round_trip_ms(*pair)) * 1e3 for pair, trip in trips.items()]
    mean_us = [(trip.mean - matrix.round_trip_ms(*pair)) * 1e3 for pair, trip in trips.items()]
    wrong = len(matrix.wrong(trips))
    yield f"| round trips of {len(trips)} ordered pairs, off by more than 1 % + 100 us | 0 | {wrong} |"
    span = f"{min(least_us):.0f} to {max(least_us):.0f}, median {median(least_us):.0f}"
    yield f"| shortest of {PINGS} pings beyond the matrix, us | 0 | {span} |"
    yield f"| mean of {PINGS} pings beyond the matrix, us | 0 | at most {max(mean_us):.0f} |"


def _blocks(expected_ms: float, here: Blocks, there: Blocks) -> Iterator[str]:
    here_ms, there_ms = (median(found.intervals_s) * 1e3 for found in (here, there))
    yield f"| block interval in one place, median of {len(here.intervals_s)}, ms | | {here_ms:.0f} |"
    yield f"| block interval through the matrix, ms | | {there_ms:.0f} |"
    yield f"| rise of the block interval, ms | {expected_ms:.0f} | {there_ms - here_ms:.0f} |"
    yield f"| CPUs in use by all validators, in one place and apart | | {here.cpus:.2f}, {there.cpus:.2f} |"


def _cut(found: CutOff, expected: str) -> Iterator[str]:
    made = f"{found.blocks}, {found.blocks_away}"
    what = f"{found.away} of 13 cut off for {CUT_S:g} s: blocks of the others, of these"
    yield f"| {what} | {expected} | {made} |"
    if found.blocks:
        return
    yield f"| from its end to the first new block, s | | {found.first_after_s:.1f} |"
    yield f"| and until all validators have it, s | | {found.all_after_s:.1f} |"


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder
