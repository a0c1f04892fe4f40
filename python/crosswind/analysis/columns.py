"""Which column of a CSV file holds what: the values, and the group, trial, time and unit of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosswind.errors import CrosswindError
from crosswind.spec.nearest import did_you_mean

# Columns of these names say which trial a row comes from, whatever else the file is about: the first of them.
TRIAL_NAMES = ("trial", "run", "repetition", "experiment_run", "trial_id", "run_id", "session", "session_id")
# Trials may share one of these, and with it what makes them alike.
SESSION_NAMES = ("session", "session_id")
# These say when a row was measured, and these its unit, where another column has the values.
TIME_NAMES = ("timestamp", "started", "start_time", "datetime", "date", "time", "time_s")
UNIT_NAMES = ("unit", "units")
_NO_VALUES = (*TRIAL_NAMES, *SESSION_NAMES, *TIME_NAMES, *UNIT_NAMES)  # where another column may have them


class BadSamples(CrosswindError):
    """The file cannot be read as samples; each line of the message begins with the file and the line."""

    names_its_place = True


@dataclass(frozen=True)
class Columns:
    """The columns of a file that are read, each by its name; None where there is none of the kind."""

    names: tuple[str, ...]  # all of them, read or not
    values: str
    by: tuple[str, ...]
    trial: str | None
    session: str | None  # that trials were found to belong to; none where somebody said what a trial is
    time: str | None
    unit: str | None
    set_aside: tuple[str, ...]  # without numbers, which is how the one with the values was found

    def place(self, name: str) -> int:
        """Return the place of a column in a row, from 0."""
        return self.names.index(name)

    @property
    def values_alone(self) -> bool:
        """Whether the column of the values is the only one, and nothing else is asked of it."""
        return self.names == (self.values,) and not self.by and self.trial is None


def columns_of(
    path: Path,
    names: Sequence[str],
    values: str | None,
    by: Sequence[str],
    trial: str | None,
    first_rows: Callable[[], Sequence[Sequence[str]]],
) -> Columns:
    """Return which column is what.

    Args:
        path: of the file, for messages.
        names: all of them, from the first line.
        values, by, trial: as somebody named them; None for what the names and the first rows say.
        first_rows: returns some rows, which are read only where the names leave a choice.
    Raises: BadSamples: one of them is not there, or nothing says which has the values.
    """
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadSamples(f'{path}:1: column "{twice}" is there twice; give each a name of its own')
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
    """Return the first name that is known, in the order of those that are known."""
    return next((name for wanted in known for name in names if name.casefold() == wanted), None)


def _values(
    path: Path,
    names: Sequence[str],
    taken: Sequence[str],
    first_rows: Callable[[], Sequence[Sequence[str]]],
) -> tuple[str, tuple[str, ...]]:
    """Return the column with the values where only one can be meant, and those that were set aside for it.

    Only one can be meant where only one is left, or only one of them has numbers.
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
            f"{path}:1: which column has the values? --column says it: {', '.join(left or names)}"
        )
    return left[0], ()


def number_in(cell: str) -> float | None:
    """Return the number in a cell, None where it has none."""
    try:
        return float(cell)
    except ValueError:
        return None


def _has_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Return whether a column has numbers and nothing else; an empty cell is refused later, with its line."""
    cells = [row[place] for row in rows if place < len(row) and row[place].strip()]
    return bool(cells) and all(number_in(cell) is not None for cell in cells)
