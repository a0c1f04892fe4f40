"""Read a square table from a CSV file: names of zones, and the text of each cell with its row and column.

Rows and columns may have names (in the first row, and usually also in the first column). Without names, zones
are called z0, z1 and so on. Commas, semicolons, tabs or spaces separate cells. Lines that begin with # are
skipped.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import lru_cache

from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError, meant
from crosswind.spec.topology.names import as_name

ZONES_MAX = 1000  # A million pairs; a larger file is something else.

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_MISSING = ("", "-", "na", "n/a", "nan", "null", "none")

Row = tuple[int, list[str]]  # The line's number, and its cells.


@dataclass(frozen=True)
class Cell:
    """One cell, with its row and column as spreadsheets count."""

    text: str
    row: int
    column: int

    @property
    def is_missing(self) -> bool:
        """Whether it has no value."""
        return self.text.strip().casefold() in _MISSING


@dataclass(frozen=True)
class Table:
    """A square table.

    Attributes:
        names: of the zones, in the order of the columns.
        cells: one row for each name, in this order, with one cell for each.
    """

    names: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]


@lru_cache(maxsize=8)  # Several rules read the same file.
def parse_table(content: bytes) -> Table:
    """Return the table of a CSV file.

    Raises: LineError: the first error, with its line and the remedy.
    """
    lines = meant(content)
    first = next(lines, None)
    if first is None:
        raise LineError(0, "is empty; write a row and a column for each zone")
    separator = next((mark for mark in ",;\t" if mark in first[1]), " ")
    head = (first[0], _cells(first[1], separator))
    if len(head[1]) > ZONES_MAX + 1:
        count = len(head[1])
        raise LineError(first[0], f"has {count} columns, so {count * count} links; at most {ZONES_MAX} zones")
    rows = [(number, _cells(text, separator)) for number, text in lines]
    # Scripts end each line with a comma.
    if len(head[1]) > 1 and all(not cells[-1] for _, cells in (head, *rows)):
        for _, cells in (head, *rows):
            cells.pop()
    # Numbers only: there are no names.
    if all(_is_number(cell) or cell.casefold() in _MISSING for cell in head[1]) and head[1][0]:
        return _square([f"z{number}" for number in range(len(head[1]))], None, [head, *rows])
    if len(rows) == len(head[1]) and all(len(cells) == len(head[1]) for _, cells in rows):
        return _square(_named(head[1], first[0]), None, rows)
    # Some programs leave out the corner.
    has_corner = not rows or len(rows[0][1]) == len(head[1])
    names = _named(head[1][1:] if has_corner else head[1], first[0])
    return _square(names, [_name(cells[0], number) for number, cells in rows], rows)


def _square(names: list[str], row_names: list[str] | None, rows: list[Row]) -> Table:
    begin = 0 if row_names is None else 1
    for number, cells in rows:
        if len(cells) - begin != len(names):
            raise LineError(
                number,
                f"has {len(cells) - begin} values, and there are {len(names)} columns; write one for each",
            )
    by_name = dict(zip(names if row_names is None else row_names, rows, strict=False))
    for name in names:
        if name not in by_name:
            raise LineError(
                0, f"has a column {name} and no row of this name; every zone needs a row and a column"
            )
    for name in row_names or ():
        if name not in names:
            raise LineError(
                by_name[name][0], f"is of {name}, which has no column; add one, or remove the row"
            )
    if len(rows) != len(names):
        raise LineError(0, f"has {len(rows)} rows and {len(names)} columns; write the same number of both")
    return Table(
        tuple(names),
        tuple(
            tuple(
                Cell(text, by_name[name][0], column)
                for column, text in enumerate(by_name[name][1][begin:], begin + 1)
            )
            for name in names
        ),
    )


def _cells(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def _named(cells: list[str], line: int) -> list[str]:
    names: list[str] = []
    for cell in cells:
        name = _name(cell, line)
        if name in names:
            raise LineError(line, f"has two columns called {name}; give every zone its own name")
        names.append(name)
    return names


def _name(cell: str, line: int) -> str:
    name = as_name(cell)
    if not name:
        raise LineError(line, f"{shown(cell)} is not a valid name for a zone; write letters and digits")
    return name
