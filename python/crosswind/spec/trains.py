"""Read CellReplay's recordings of trains: base delays, opportunities under light load, additions by size.

Every line is whole milliseconds, separated by spaces: the time at which a train was sent, the base delay of
its first packet one way, and for each of its packets when it arrived after the first one. Times increase, the
first is 0, and the last line ends the recording.

Source: Sentosa et al. 2025 (NSDI), "CellReplay": its `generate_short_pdo_trace.py` and `cellular_queue.cc`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError, numbered
from crosswind.spec.trace import POINTS_MAX

_MS = 10**6
_NUMBER = re.compile(r"[0-9]{1,12}")
_SIGNED = re.compile(r"[+-]?[0-9]{1,9}(?:\.[0-9]{0,18})?")
_SIZE_STEP = 100
_SIZE_MAX = 65_500


@dataclass(frozen=True)
class TrainTrace:
    """Trains of packets.

    Attributes:
        at_ns: increasing, from 0; the last is the period.
        delay_ns: of the first packet of each.
        opportunities_ns: of each, after its first packet; not decreasing, at least one.
    """

    at_ns: tuple[int, ...]
    delay_ns: tuple[int, ...]
    opportunities_ns: tuple[tuple[int, ...], ...]


def parse_trains(content: bytes) -> TrainTrace:
    """Return the trains of a recording.

    Raises: LineError: the first error, with its line, its column and the remedy.
    """
    at_ns: list[int] = []
    delay_ns: list[int] = []
    trains: list[tuple[int, ...]] = []
    count = 0
    for number, text in numbered(content):
        cells = text.split()
        for column, cell in enumerate(cells, 1):
            if not _NUMBER.fullmatch(cell):
                raise LineError(
                    number, f"column {column}: {shown(cell)} is not a whole number of milliseconds"
                )
        if len(cells) < 3:
            what = "is empty" if not cells else f"{shown(text)} has {len(cells)} columns"
            raise LineError(number, f"{what}; write a time, a base delay and when each packet arrived")
        time, delay, *train = (int(cell) * _MS for cell in cells)
        _check_order(number, cells, time, at_ns)
        for column, (before, after) in enumerate(pairwise(train), 4):
            if after < before:
                raise LineError(
                    number, f"column {column}: {cells[column - 1]} ms is before {before // _MS} ms; sort them"
                )
        at_ns.append(time)
        delay_ns.append(delay)
        trains.append(tuple(train))
        count += len(train)
        if count > POINTS_MAX:
            raise LineError(number, f"has packet {count}; at most {POINTS_MAX}: cut the recording")
    if len(at_ns) < 2:
        raise LineError(0, f"has {len(at_ns)} trains; at least 2, because the last line is also the period")
    return TrainTrace(tuple(at_ns), tuple(delay_ns), tuple(trains))


def _check_order(number: int, cells: list[str], time: int, before: list[int]) -> None:
    if not before and time:
        raise LineError(
            number, f"column 1: the first time is {cells[0]} ms; subtract it from all, so that it is 0"
        )
    if before and time <= before[-1]:
        raise LineError(
            number, f"column 1: {cells[0]} ms is not after {before[-1] // _MS} ms; times must increase"
        )


def parse_size_offsets(content: bytes) -> tuple[int, ...]:
    """Return what CellReplay adds to the delay of packets of 100, 200 and so on bytes, in ns.

    Every line is a size in bytes and milliseconds, which may be negative.

    Raises: LineError: the first error, with its line, its column and the remedy.
    """
    offsets: list[int] = []
    for number, text in numbered(content):
        cells = text.split()
        size = _SIZE_STEP * (len(offsets) + 1)
        if len(cells) != 2:
            raise LineError(number, f"has {len(cells)} columns; write a size in bytes and milliseconds")
        if cells[0] != str(size):
            raise LineError(
                number, f"column 1: {shown(cells[0])} is not {size}; sizes are 100, 200 and so on"
            )
        if size > _SIZE_MAX:
            raise LineError(number, f"column 1: {size} B is larger than any packet; at most {_SIZE_MAX} B")
        if not _SIGNED.fullmatch(cells[1]):
            raise LineError(
                number, f"column 2: {shown(cells[1])} is not a number of milliseconds, such as -1.5"
            )
        offsets.append(round(Fraction(cells[1]) * _MS))
    if not offsets:
        raise LineError(0, "is empty; write a line for each size, the first of 100 bytes")
    return tuple(offsets)
