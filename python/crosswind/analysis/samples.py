"""Read samples from a CSV file: one number a row, perhaps with the group and the trial that it belongs to.

Every row is read or refused with its line; none is skipped. `inf` is a value: what never ended. Where a
column says when rows were measured they have to be in that order, which the guard takes for the order of the
trials; where one says their unit, it has to be the same.
"""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Generic, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.columns import BadSamples, Columns, columns_of, number_in
from crosswind.analysis.instant import first_misplaced, instant_s
from crosswind.curves import BucketHistory
from crosswind.spec.read_file import require_file

_Name = TypeVar("_Name")

_DELIMITERS = ",;\t"
_PROBLEMS_MAX = 10
_FIRST_ROWS = 100  # say which column has numbers where the names leave a choice


@dataclass(frozen=True)
class Samples:
    """One value a row, in the order of the file."""

    file: str
    column: str
    by: str | None  # the column that groups are told apart by; several with commas
    trial: str | None  # the column that trials are told apart by
    groups: tuple[str, ...]  # in the order in which they first appear; one without a name where `by` is None
    values: NDArray[np.float64]  # shape (n,); +inf for what never ended
    group_of: NDArray[np.int64]  # shape (n,), index in `groups`
    trials: tuple[str, ...]  # names of trials, unique within a group
    trial_of: NDArray[np.int64] | None  # shape (n,), index in `trials`; None without a trial column
    session: str | None = None  # the column that says which trials belong together, where one was found
    sessions: int = 0  # of all groups together
    buckets: tuple[tuple[BucketHistory, ...], ...] = ()  # of each group, those that outlive trials; of a run
    left_out: int = 0  # planned trials of a run that have no value here
    set_aside: tuple[str, ...] = ()  # columns without numbers beside the only one that has them


def read_samples(
    path: Path,
    *,
    column: str | None = None,
    by: Sequence[str] = (),
    trial: str | None = None,
    ordered: bool = True,
) -> Samples:
    """Read the numbers of a column.

    The first line names the columns, unless all of it is numbers: then columns are called 1, 2, ... Cells are
    apart by commas, semicolons or tabs, whichever the first line has most of.

    Args:
        path: a text file in UTF-8.
        column: with the values; None where there is only one that can be meant.
        by: with the group of each row; several together name it, none gives one group.
        trial: with the trial of each row; None for a column that is called like one (`TRIAL_NAMES`), if any.
        ordered: whether rows are in the order in which they were measured; a column that is called like a
            time (`TIME_NAMES`) has to agree.
    Raises: BadSamples: no such file or column, rows that are not numbers, of several units, or not in their
        order; each with its line.
    """
    try:
        require_file(path)
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _read(path, file, column, by, trial, ordered)
    except OSError as error:
        raise BadSamples(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadSamples(f"{path}: is not text in UTF-8; export the samples as CSV") from error


def _read(
    path: Path, file: TextIO, column: str | None, by: Sequence[str], trial: str | None, ordered: bool
) -> Samples:
    first = file.readline()
    if not first.strip():
        raise BadSamples(f"{path}:1: is empty; the first line names the columns")
    delimiter = max(_DELIMITERS, key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
    bare = all(number_in(name) is not None for name in names)
    if bare:
        names = [str(place) for place in range(1, len(names) + 1)]

    def first_rows() -> list[list[str]]:
        file.seek(0)
        rows = list(islice(csv.reader(file, delimiter=delimiter), _FIRST_ROWS))
        file.seek(0)
        file.readline()
        return rows if bare else rows[1:]

    columns = columns_of(path, names, column, by, trial, first_rows)
    if columns.values_alone and (values := _plain(file, [] if not bare else [first])):
        return _alone(path, columns.values, values)
    file.seek(0)
    if not bare:
        file.readline()
    found = _Rows(columns, ordered)
    problems: list[str] = []
    for line, row in _numbered(path, file, delimiter, after=0 if bare else 1):
        if (problem := found.take(line, row)) is None:
            continue
        problems.append(f"{path}:{line}: {problem}")
        if len(problems) == _PROBLEMS_MAX:
            problems.append(f"{path}: and perhaps more; these are the first {_PROBLEMS_MAX}")
            break
    if problems:
        raise BadSamples("\n".join(problems))
    if not found.values:
        raise BadSamples(f"{path}:2: no rows below the names of the columns")
    return found.samples(path)


def _plain(file: TextIO, before: Sequence[str]) -> array[float] | None:
    """Return the numbers of a file that has one in each line and nothing else; None for any other.

    Ten million are read in two seconds so, and in twenty row by row.
    """
    try:
        values = array("d", map(float, chain(before, file)))
    except ValueError:
        return None
    return None if np.isnan(values).any() else values


def _alone(path: Path, column: str, values: array[float]) -> Samples:
    one_group = np.zeros(len(values), dtype=np.int64)
    return Samples(path.name, column, None, None, ("",), np.array(values), one_group, (), None)


class _Rows:
    """What was read of rows so far."""

    def __init__(self, columns: Columns, ordered: bool) -> None:
        self.values = array("d")
        self._columns = columns
        self._time = columns.time if ordered else None
        self._groups, self._units = _Names[str](), _Names[str]()
        self._trials, self._sessions = _Names[tuple[int, str]](), _Names[tuple[int, str]]()
        self._instants_s, self._lines = array("d"), array("q")

    def take(self, line: int, row: list[str]) -> str | None:
        """Take a row down; return what is wrong with it if something is."""
        columns = self._columns
        if len(row) != len(columns.names):
            return _width(row, columns.names)
        cell = dict(zip(columns.names, row, strict=True))
        if (problem := _problem(cell[columns.values])) is not None:
            return f"{columns.values}: {problem}"
        if self._time is not None:
            instant = instant_s(cell[self._time])
            if instant is None:
                return (
                    f'{self._time}: "{cell[self._time].strip()}" is no instant; write seconds, or '
                    "2026-11-22T10:00:00, or say --unordered"
                )
            self._instants_s.append(instant)
        self._lines.append(line)
        self.values.append(float(cell[columns.values]))
        group = self._groups.number(", ".join(cell[name].strip() for name in columns.by))
        if columns.trial is not None:
            # A trial 1 of one group is not the trial 1 of another.
            self._trials.number((group, cell[columns.trial].strip()))
        if columns.session is not None:
            self._sessions.number((group, cell[columns.session].strip()))
        if columns.unit is not None:
            self._units.number(cell[columns.unit].strip())
        return None

    def samples(self, path: Path) -> Samples:
        """Return the rows as samples.

        Raises: BadSamples: they have several units, or are not in the order in which they were measured.
        """
        columns = self._columns
        if len(self._units.known) > 1:
            line = self._lines[self._units.of_rows.index(1)]
            raise BadSamples(
                f"{path}:{line}: {columns.unit}: {' and '.join(list(self._units.known)[:2])} in one file; "
                "write all values in one unit, or analyse one after the other"
            )
        group_of = np.array(self._groups.of_rows)
        trial_of = np.array(self._trials.of_rows) if columns.trial is not None else None
        if self._time is not None:
            misplaced = first_misplaced(np.array(self._instants_s), trial_of, group_of)
            if misplaced is not None:
                raise BadSamples(
                    f"{path}:{self._lines[misplaced]}: {self._time}: is before what stands above it, but the "
                    "guard takes the order of rows for that of trials; sort the rows by it, or say "
                    "--unordered and do without the guard"
                )
        return Samples(
            file=path.name,
            column=columns.values,
            by=", ".join(columns.by) or None,
            trial=columns.trial,
            groups=tuple(self._groups.known),
            values=np.array(self.values),
            group_of=group_of,
            trials=tuple(name for _, name in self._trials.known),
            trial_of=trial_of,
            session=columns.session,
            sessions=len(self._sessions.known),
            set_aside=columns.set_aside,
        )


class _Names(Generic[_Name]):
    """Names as they appear, each with a number."""

    def __init__(self) -> None:
        self.known: dict[_Name, int] = {}
        self.of_rows = array("q")

    def number(self, name: _Name) -> int:
        """Return the number of a name, and take it down for the next row."""
        number = self.known.setdefault(name, len(self.known))
        self.of_rows.append(number)
        return number


def _numbered(path: Path, file: TextIO, delimiter: str, after: int) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their lines; an empty line is a row of no cells, and at the end of the file none."""
    rows = csv.reader(file, delimiter=delimiter)
    empty = []
    try:
        for row in rows:
            line = after + rows.line_num
            if not row:
                empty.append(line)
                continue
            yield from ((at, []) for at in empty)
            empty.clear()
            yield line, row
    except csv.Error as error:
        raise BadSamples(f"{path}:{after + rows.line_num}: {error}") from error


def _width(row: list[str], names: Sequence[str]) -> str:
    if not row:
        return "the line is empty; take it out"
    return f"{len(row)} cells, but {len(names)} column{'' if len(names) == 1 else 's'}: {', '.join(names)}"


def _problem(cell: str) -> str | None:
    """Return what is wrong with a cell that has to hold a value, None if nothing is."""
    number = number_in(cell)
    if number is None:
        text = cell.strip()
        if not text:
            return "the cell is empty; write inf for what never ended, or leave the row out and say so"
        if "," in text and number_in(text.replace(",", "")) is not None:
            return f'"{text}" has a comma; write decimals with a point, and nothing between thousands'
        if text[0].isdigit():
            return f'"{text}" is not a plain number; write all values in one unit, and none beside them'
        return f'"{text}" is not a number'
    if math.isnan(number):
        return "NaN has no rank; write inf for what never ended, or leave the row out and say so"
    return None
