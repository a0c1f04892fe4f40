"""Rows of a query as plain values, and whether two engines returned the same rows. Pure.

Two engines agree on a row if texts, dates and missing values are equal and numbers are within the tolerances:
one engine rounds an average of decimals to six digits, the other to the precision of a double.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TypeGuard

TOLERANCE_RELATIVE = 1e-6
TOLERANCE_ABSOLUTE = 1e-4

# Values of a row; dates are texts.
Row = list[int | float | str | None]


def plain_rows(rows: Iterable[Sequence[object]]) -> list[Row]:
    """Return rows of values that JSON can hold: numbers, texts (also for dates) and null."""
    return [[_plain(value) for value in row] for row in rows]


def difference(found: list[Row], expected: list[Row]) -> str | None:
    """Return the first difference between two sets of rows in any order; None if there is none."""
    if len(found) != len(expected):
        return f"{len(found)} rows instead of {len(expected)}"
    for one, other in zip(sorted(found, key=_order), sorted(expected, key=_order), strict=True):
        if len(one) != len(other) or not all(map(_agree, one, other)):
            return f"the row {one} instead of {other}"
    return None


def _plain(value: object) -> int | float | str | None:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    if value is None or isinstance(value, int | float | str):
        return value
    raise TypeError(f"{value!r} is a {type(value).__name__}, which no query returns")


def _order(row: Row) -> list[tuple[int, int | float | str]]:
    """Return a sort key that is equal for rows that agree: values that must be equal come before numbers."""
    exact = [(0, "") if value is None else (1, value) for value in row if not _is_number(value)]
    numbers = [(0, f"{value:.1f}") for value in row if _is_number(value)]
    nulls = [(int(value is None), "") for value in row]
    return [*nulls, *exact, *numbers]


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _agree(one: object, other: object) -> bool:
    if _is_number(one) and _is_number(other):
        return math.isclose(one, other, rel_tol=TOLERANCE_RELATIVE, abs_tol=TOLERANCE_ABSOLUTE)
    return bool(one == other)
