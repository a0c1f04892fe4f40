"""Read the output of a load: a JSON document, a text with a pattern, a column of numbers. Pure functions.

A value that is missing, or not a finite number, fails the trial with the reason; it never counts as 0.
"""

from __future__ import annotations

import csv
import json
import math
import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from crosswind.app.command.json_path import read_path, value_at
from crosswind.app.command.unit import unit_of
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.text_lines import LineError, meant_lines

_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class NoResult(ValueError):
    """A text does not have the requested number; the message says why."""


def from_json(text: str, path: str, unit: str) -> float:
    """Return the number at a path of a JSON document, in the base unit.

    The document is the whole text, or else its last line, after other output.
    """
    try:
        found = value_at(_document(text), read_path(path))
    except LookupError as error:
        raise NoResult(str(error)) from None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NoResult(f"{path} is {shown(found)}, not a number")
    return _finite(float(found), path) * unit_of(unit).factor


def _document(text: str) -> JsonValue:
    whole = text.strip()
    for candidate in (whole, whole.rpartition("\n")[2]):
        try:
            found: JsonValue = json.loads(candidate)
            return found
        except ValueError as error:
            problem = str(error)
    raise NoResult(f"neither it nor its last line is JSON ({problem}): {shown(whole)}")


def from_regex(text: str, pattern: str, unit: str) -> float:
    """Return the number in the group `value` of the last match, in the base unit.

    Args:
        unit: of the number, unless the pattern has a group `unit`, whose unit must be of the same kind.
    """
    matches = deque(re.finditer(pattern, text, re.MULTILINE), maxlen=1)
    if not matches:
        raise NoResult(f"{shown(pattern)} matches nothing in it")
    match = matches[0]
    number = _number(match["value"], pattern)
    printed = match.groupdict().get("unit")
    if printed is None:
        return number * unit_of(unit).factor
    try:
        found = unit_of(printed)
    except QuantityError as error:
        raise NoResult(str(error)) from None
    if found.base != unit_of(unit).base:
        raise NoResult(f"{shown(match[0])} is in {printed}, which cannot be converted to {unit}")
    return number * found.factor


def column_of(file: Iterable[bytes], column: str | None) -> NDArray[np.float64]:
    """Return the numbers of a file: one on each line, or those of a column of CSV with a header.

    Lines are read one by one, so that only the numbers need memory. Empty lines and lines that begin with #
    are ignored.

    Args:
        file: its lines.
    """
    try:
        lines = meant_lines(file)
        if column is None:
            numbers = array("d", (_number(line, f"line {number}") for number, line in lines))
        else:
            numbers = array("d", _csv_column(lines, column))
    except LineError as error:
        raise NoResult(str(error)) from None
    if not numbers:
        raise NoResult("it has no numbers")
    return np.frombuffer(numbers)


def _csv_column(lines: Iterator[tuple[int, str]], column: str) -> Iterator[float]:
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for at, line in lines:
            number = at
            yield line

    rows = csv.reader(texts())
    header = [name.strip() for name in next(rows, [])]
    if column not in header:
        raise NoResult(f'it has no column "{column}"; its header is {", ".join(header) or "empty"}')
    index = header.index(column)
    for row in rows:
        if index >= len(row):
            raise NoResult(f'line {number} has {len(row)} columns and ends before "{column}"')
        yield _number(row[index], f"line {number}")


def statistics_of(numbers: NDArray[np.float64], unit: str) -> dict[str, float]:
    """Return quantiles (type 7), maximum and mean, in the base unit."""
    values = numbers * unit_of(unit).factor
    found = {name: float(np.quantile(values, quantile)) for name, quantile in _QUANTILES.items()}
    return {**found, "max": float(values.max()), "mean": float(values.mean())}


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except (TypeError, ValueError):
        raise NoResult(f"{where}: {shown(text)} is not a number") from None
    return _finite(number, where)


def _finite(number: float, where: str) -> float:
    if not math.isfinite(number):
        raise NoResult(f"{where}: {number} is not a finite number")
    return number
