"""Read samples from a CSV file: one number a row, perhaps with the group and the trial that it belongs to.

Every row is read or refused with its line; none is skipped. `inf` is a value: what never ended.
"""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from crosswind.errors import CrosswindError
from crosswind.spec.nearest import did_you_mean

# Columns of these names say which trial a row comes from, whatever else the file is about.
TRIAL_NAMES = ("trial", "run", "repetition", "session", "experiment_run", "trial_id", "run_id")
_DELIMITERS = ",;\t"
_PROBLEMS_MAX = 10


class BadSamples(CrosswindError):
    """The file cannot be read as samples; each line of the message begins with the file and the line."""

    names_its_place = True


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


def read_samples(
    path: Path, *, column: str | None = None, by: Sequence[str] = (), trial: str | None = None
) -> Samples:
    """Read the numbers of a column.

    The first line names the columns, unless all of it is numbers: then columns are called 1, 2, ... Cells are
    apart by commas, semicolons or tabs, whichever the first line has most of.

    Args:
        path: a text file in UTF-8.
        column: with the values; None where there is only one that can be meant.
        by: with the group of each row; several together name it, none gives one group.
        trial: with the trial of each row; None for a column that is called like one (`TRIAL_NAMES`), if any.
    Raises: BadSamples: no such file or column, or rows that are not numbers; each with its line.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return _read(path, file, column, by, trial)
    except OSError as error:
        raise BadSamples(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadSamples(f"{path}: is not text in UTF-8; export the samples as CSV") from error


def _read(path: Path, file: TextIO, column: str | None, by: Sequence[str], trial: str | None) -> Samples:
    first = file.readline()
    if not first.strip():
        raise BadSamples(f"{path}:1: is empty; the first line names the columns")
    delimiter = max(_DELIMITERS, key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
    bare = all(_number(name) is not None for name in names)
    if bare:
        names = [str(place) for place in range(1, len(names) + 1)]
        file.seek(0)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadSamples(f'{path}:1: column "{twice}" is there twice; give each a name of its own')
    trial = trial or next((name for name in names if name.casefold() in TRIAL_NAMES), None)
    group_places = [_place(path, names, name) for name in by]
    trial_place = _place(path, names, trial) if trial is not None else None
    column = _column(path, names, column, [*by, *([trial] if trial is not None else [])])
    place = _place(path, names, column)
    values, groups, trials = array("d"), _Names(), _Names()
    problems: list[str] = []
    rows = csv.reader(file, delimiter=delimiter)
    for line, row in _numbered(path, rows, after=0 if bare else 1):
        if len(row) != len(names):
            problems.append(f"{path}:{line}: {_width(row, names)}")
        elif (problem := _problem(row[place])) is not None:
            problems.append(f"{path}:{line}: {column}: {problem}")
        else:
            values.append(float(row[place]))
            group = groups.number(", ".join(row[at].strip() for at in group_places))
            if trial_place is not None:
                # A trial 1 of one group is not the trial 1 of another.
                trials.number((group, row[trial_place].strip()))
            continue
        if len(problems) == _PROBLEMS_MAX:
            problems.append(f"{path}: and perhaps more; these are the first {_PROBLEMS_MAX}")
            break
    if problems:
        raise BadSamples("\n".join(problems))
    if not values:
        raise BadSamples(f"{path}:2: no rows below the names of the columns")
    return Samples(
        file=path.name,
        column=column,
        by=", ".join(by) or None,
        trial=trial,
        groups=tuple(groups.known),
        values=np.array(values),
        group_of=np.array(groups.of_rows),
        trials=tuple(name for _, name in trials.known),
        trial_of=np.array(trials.of_rows) if trial is not None else None,
    )


class _Names:
    """Names as they appear, each with a number."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}
        self.of_rows = array("q")

    def number(self, name: Any) -> int:
        """Return the number of a name, and take it down for the next row."""
        number = self.known.setdefault(name, len(self.known))
        self.of_rows.append(number)
        return number


def _numbered(path: Path, rows: Any, after: int) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their lines; an empty line is a row of no cells, and at the end of the file none."""
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


def _column(path: Path, names: list[str], column: str | None, taken: list[str]) -> str:
    """Return the column with the values."""
    if column is not None:
        return column
    left = [name for name in names if name not in taken]
    if len(left) != 1:
        raise BadSamples(
            f"{path}:1: which column has the values? --column says it: {', '.join(left or names)}"
        )
    return left[0]


def _place(path: Path, names: list[str], name: str) -> int:
    if name not in names:
        remedy = did_you_mean(name, names) or f"there are {', '.join(names)}"
        raise BadSamples(f'{path}:1: there is no column "{name}"; {remedy}')
    return names.index(name)


def _width(row: list[str], names: list[str]) -> str:
    if not row:
        return "the line is empty; take it out"
    return f"{len(row)} cells, but {len(names)} column{'' if len(names) == 1 else 's'}: {', '.join(names)}"


def _problem(cell: str) -> str | None:
    """Return what is wrong with a cell that has to hold a value, None if nothing is."""
    number = _number(cell)
    if number is None:
        text = cell.strip()
        if not text:
            return "the cell is empty; write inf for what never ended, or leave the row out and say so"
        if text[0].isdigit():
            return f'"{text}" is not a plain number; write all values in one unit, and none beside them'
        return f'"{text}" is not a number'
    if math.isnan(number):
        return "NaN has no rank; write inf for what never ended, or leave the row out and say so"
    return None


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
