"""Read samples from a CSV file: one number in each row, with optional columns for its group and trial.

Every row is read, or refused with its line; none is skipped. `inf` is a value: what never ended. If a column
has the times of rows, rows have to be in that order, which the guard uses as the order of trials. If a column
has units, they have to be equal.
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
_FIRST_ROWS = 100  # read to find the column with numbers, where names alone do not decide


@dataclass(frozen=True)
class Samples:
    """One value for each row, in the order of the file."""

    file: str
    column: str
    by: str | None  # the column of the groups; several with commas
    trial: str | None  # the column of the trials
    groups: tuple[
        str, ...
    ]  # in the order in which they first appear; one with an empty name where `by` is None
    values: NDArray[np.float64]  # shape (n,); +inf for what never ended
    group_of: NDArray[np.int64]  # shape (n,), index in `groups`
    trials: tuple[str, ...]  # names of trials, unique within a group
    trial_of: NDArray[np.int64] | None  # shape (n,), index in `trials`; None without a trial column
    session: str | None = None  # the column of the sessions of trials, where there is one
    sessions: int = 0  # of all groups together
    buckets: tuple[
        tuple[BucketHistory, ...], ...
    ] = ()  # of each group: buckets that outlive trials; only for a run
    left_out: int = 0  # planned trials of a run that have no value here
    set_aside: tuple[str, ...] = ()  # columns without numbers, where only one column has numbers


def read_samples(
    path: Path,
    *,
    column: str | None = None,
    by: Sequence[str] = (),
    trial: str | None = None,
    ordered: bool = True,
) -> Samples:
    """Read the numbers of a column.

    The first line names the columns. If it has only numbers, columns are called 1, 2, ... The separator is
    the comma, semicolon or tab, whichever is most frequent in the first line.

    Args:
        path: a text file in UTF-8.
        column: of the values; None where only one is possible.
        by: columns of the group of each row; none gives one group.
        trial: column of the trial of each row; None for a column with a name in `TRIAL_NAMES`, if any.
        ordered: whether rows are in the order of measurement; a column with a name in `TIME_NAMES` has to
            agree.
    Raises: BadSamples: there is no such file or column, or rows are not numbers, have several units, or are
    out
        of order; with their lines.
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
        raise BadSamples(f"{path}:1: is empty; name the columns in the first line")
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
            problems.append(f"{path}: these are the first {_PROBLEMS_MAX} problems; there may be more")
            break
    if problems:
        raise BadSamples("\n".join(problems))
    if not found.values:
        raise BadSamples(f"{path}:2: there are no rows below the names of the columns")
    return found.samples(path)


def _plain(file: TextIO, before: Sequence[str]) -> array[float] | None:
    """Return the numbers of a file with one number in each line; None for any other file.

    This reads ten million in two seconds; row by row it takes twenty.
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
    """The rows that were read so far."""

    def __init__(self, columns: Columns, ordered: bool) -> None:
        self.values = array("d")
        self._columns = columns
        self._time = columns.time if ordered else None
        self._groups, self._units = _Names[str](), _Names[str]()
        self._trials, self._sessions = _Names[tuple[int, str]](), _Names[tuple[int, str]]()
        self._instants_s, self._lines = array("d"), array("q")

    def take(self, line: int, row: list[str]) -> str | None:
        """Store a row; return what is wrong with it, if anything."""
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
                    "2026-11-22T10:00:00, or give --unordered"
                )
            self._instants_s.append(instant)
        self._lines.append(line)
        self.values.append(float(cell[columns.values]))
        group = self._groups.number(", ".join(cell[name].strip() for name in columns.by))
        if columns.trial is not None:
            # Trial 1 of one group is not trial 1 of another.
            self._trials.number((group, cell[columns.trial].strip()))
        if columns.session is not None:
            self._sessions.number((group, cell[columns.session].strip()))
        if columns.unit is not None:
            self._units.number(cell[columns.unit].strip())
        return None

    def samples(self, path: Path) -> Samples:
        """Return the rows as samples.

        Raises: BadSamples: they have several units, or are not in the order of measurement.
        """
        columns = self._columns
        if len(self._units.known) > 1:
            line = self._lines[self._units.of_rows.index(1)]
            raise BadSamples(
                f"{path}:{line}: {columns.unit}: {' and '.join(list(self._units.known)[:2])} in one file; "
                "write all values in one unit, or analyse each unit separately"
            )
        group_of = np.array(self._groups.of_rows)
        trial_of = np.array(self._trials.of_rows) if columns.trial is not None else None
        if self._time is not None:
            misplaced = first_misplaced(np.array(self._instants_s), trial_of, group_of)
            if misplaced is not None:
                raise BadSamples(
                    f"{path}:{self._lines[misplaced]}: {self._time}: is before the row above, but the guard "
                    "needs rows in the order of trials; sort the rows by time, or give --unordered, which "
                    "disables the guard"
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
        """Return the number of a name, and store it for the next row."""
        number = self.known.setdefault(name, len(self.known))
        self.of_rows.append(number)
        return number


def _numbered(path: Path, file: TextIO, delimiter: str, after: int) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their lines; an empty line is a row without cells, except at the end of the file."""
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
        return "the line is empty; remove it"
    return f"{len(row)} cells, but {len(names)} column{'' if len(names) == 1 else 's'}: {', '.join(names)}"


def _problem(cell: str) -> str | None:
    """Return what is wrong with the cell of a value, None if nothing is."""
    number = number_in(cell)
    if number is None:
        text = cell.strip()
        if not text:
            return "the cell is empty; write inf for what never ended, or remove the row and report that"
        if "," in text and number_in(text.replace(",", "")) is not None:
            return f'"{text}" has a comma; write decimals with a point, and no separator of thousands'
        if text[0].isdigit():
            return f'"{text}" is not a plain number; write all values in one unit, without the unit'
        return f'"{text}" is not a number'
    if math.isnan(number):
        return "NaN has no rank; write inf for what never ended, or remove the row and report that"
    return None
