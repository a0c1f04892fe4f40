"""Find the columns of a CSV file: the values, and the group, trial, time and unit of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosswind.errors import CrosswindError
from crosswind.text.nearest import did_you_mean

# A column with one of these names has the trial of each row; the first of these names counts.
TRIAL_NAMES = ("trial", "run", "repetition", "experiment_run", "trial_id", "run_id", "session", "session_id")
# Trials of one session resemble each other.
SESSION_NAMES = ("session", "session_id")
# Names of columns with the time of a row, and with its unit, where another column has the values.
TIME_NAMES = ("timestamp", "started", "start_time", "datetime", "date", "time", "time_s")
UNIT_NAMES = ("unit", "units")
_NO_VALUES = (
    *TRIAL_NAMES,
    *SESSION_NAMES,
    *TIME_NAMES,
    *UNIT_NAMES,
)  # columns for values only where there is no other


class BadSamples(CrosswindError):
    """The file cannot be read as samples; each line of the message starts with the file and the line."""

    names_its_place = True


@dataclass(frozen=True)
class Columns:
    """The names of the columns to read; None where the file has no such column."""

    names: tuple[str, ...]  # of all columns
    values: str
    by: tuple[str, ...]
    trial: str | None
    session: str | None  # the session of each trial; None where the user names the column of trials
    time: str | None
    unit: str | None
    set_aside: tuple[str, ...]  # columns without numbers; the other one has the values

    def place(self, name: str) -> int:
        """Return the place of a column in a row, from 0."""
        return self.names.index(name)

    @property
    def values_alone(self) -> bool:
        """Whether the file has only the column of values, without groups or trials."""
        return self.names == (self.values,) and not self.by and self.trial is None


def columns_of(
    path: Path,
    names: Sequence[str],
    values: str | None,
    by: Sequence[str],
    trial: str | None,
    first_rows: Callable[[], Sequence[Sequence[str]]],
) -> Columns:
    """Return the columns of a file.

    Args:
        path: of the file, for messages.
        names: of all columns, from the first line.
        values, by, trial: names given by the user; None finds the column by names and first rows.
        first_rows: returns some rows; called only where names alone do not decide.
    Raises: BadSamples: a column does not exist, or the column of values is ambiguous.
    """
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadSamples(f'{path}:1: column "{twice}" exists twice; give each column its own name')
    session = None
    if trial is None:
        trial = _called(names, TRIAL_NAMES)
        session = _called([name for name in names if name not in (trial, *by)], SESSION_NAMES)
    taken = [*by, *([trial] if trial is not None else [])]
    for name in (*taken, *([values] if values is not None else [])):
        if name not in names:
            remedy = did_you_mean(name, names) or f"there are {', '.join(names)}"
            raise BadSamples(f'{path}:1: there is no column "{name}"; {remedy}')
    set_aside: tuple[str, ...] = ()
    if values is None:
        values, set_aside = _values(path, names, taken, first_rows)
    left = [name for name in names if name not in (*taken, values)]
    return Columns(
        names=tuple(names),
        values=values,
        by=tuple(by),
        trial=trial,
        session=None if session == values else session,
        time=_called(left, TIME_NAMES),
        unit=_called(left, UNIT_NAMES),
        set_aside=set_aside,
    )


def _called(names: Sequence[str], known: Sequence[str]) -> str | None:
    """Return the first known name that a column has, in the order of `known`."""
    return next((name for wanted in known for name in names if name.casefold() == wanted), None)


def _values(
    path: Path,
    names: Sequence[str],
    taken: Sequence[str],
    first_rows: Callable[[], Sequence[Sequence[str]]],
) -> tuple[str, tuple[str, ...]]:
    """Return the column with the values, and the columns without numbers.

    It is the only column left, or the only one with numbers.
    """
    left = [name for name in names if name not in taken]
    if len(left) > 1:
        left = [name for name in left if name.casefold() not in _NO_VALUES]
    if len(left) > 1:
        rows = first_rows()
        numeric = [name for name in left if _has_numbers(rows, names.index(name))]
        if len(numeric) == 1:
            return numeric[0], tuple(name for name in left if name not in numeric)
    if len(left) != 1:
        raise BadSamples(
            f"{path}:1: which column has the values? Name it with --column: {', '.join(left or names)}"
        )
    return left[0], ()


def number_in(cell: str) -> float | None:
    """Return the number in a cell; None where there is none."""
    try:
        return float(cell)
    except ValueError:
        return None


def _has_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Return whether a column has only numbers; an empty cell is refused later, with its line."""
    cells = [row[place] for row in rows if place < len(row) and row[place].strip()]
    return bool(cells) and all(number_in(cell) is not None for cell in cells)
