"""Rows of a query as plain values, and whether two engines found the same ones. Pure.

Engines agree on a row when texts, dates and missing values are equal and numbers are within `TOLERANCE`: an
average of decimals is rounded to six digits by one and to the precision of a double by the other.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TypeGuard

TOLERANCE_RELATIVE = 1e-6
TOLERANCE_ABSOLUTE = 1e-4

# A value of a row: its text where it is one, such as a date.
Row = list[int | float | str | None]


def plain_rows(rows: Iterable[Sequence[object]]) -> list[Row]:
    """Return rows of JSON-ready values: numbers, texts (dates among them), null."""
    return [[_plain(value) for value in row] for row in rows]


def difference(found: list[Row], expected: list[Row]) -> str | None:
    """Return the first difference between two sets of rows in whatever order; None where there is none."""
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
    raise TypeError(f"{value!r} is a {type(value).__name__}, which no query has")


def _order(row: Row) -> list[tuple[int, int | float | str]]:
    """Return a key by which rows that agree sort alike: what has to be equal counts before numbers do."""
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
