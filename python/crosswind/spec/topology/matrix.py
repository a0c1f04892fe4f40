"""A value for each ordered pair of zones: one for all, written out, in a CSV file, or of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from crosswind.spec.base import Annotation, SpecModel
from crosswind.spec.document import Path
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.quantities import (
    RATE,
    TIME,
    Duration,
    PartsPerBillion,
    QuantityError,
    Rate,
    read_parts_per_billion,
    read_rate,
    shown,
)
from crosswind.spec.topology.names import ZoneName
from crosswind.spec.topology.region_table import RegionTableName, load_region_table
from crosswind.spec.topology.table import Cell, Table, parse_table

_PLAIN = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?")

Finding = tuple[Path, str]
Pair = tuple[str, str]
Values = Mapping[Pair, int | None]


@dataclass(frozen=True)
class Matrix:
    """Values by ordered pair; the diagonal has none."""

    names: tuple[str, ...]
    values: Values


@dataclass(frozen=True)
class MatrixKind:
    """The quantity in the cells of a matrix.

    Attributes:
        noun: for messages.
        read: reads a cell with a unit of its own.
        per_unit: base units in one of each unit.
        most: the largest value, in base units.
    """

    noun: str
    read: Callable[[object], int | None]
    per_unit: Mapping[str, int]
    most: int = 2**63 - 1


_TIMES = {unit: TIME.units[unit] for unit in ("s", "ms", "us", "ns")}
_DELAYS = MatrixKind("delay", TIME.read, MappingProxyType(_TIMES))
_JITTERS = MatrixKind("jitter", TIME.read, MappingProxyType(_TIMES))
_RATES = MatrixKind("rate", read_rate, RATE.units)
_LOSSES = MatrixKind("loss", read_parts_per_billion, MappingProxyType({"%": 10**7}), most=10**9)

# The part of a measured value that is the delay each way.
_EACH_WAY = {"one-way": Fraction(1), "round-trip": Fraction(1, 2)}

_UNIT = "Of every number; absent where each number has its own unit."


class MatrixFile(SpecModel):
    """A square table in a CSV file."""

    matrix: Annotated[NamedFile[Table], *named_file(parse_table, "delays.csv")] = Field(
        description="A CSV file with a row and a column for each zone; its path is relative to this file."
    )
    unit: str | None = Field(None, description=_UNIT)

    kind: ClassVar[MatrixKind]
    # The part of a value in the file that applies one way.
    share: ClassVar[Fraction] = Fraction(1)

    def read(self) -> Matrix | None:
        """Return the matrix; None where the file was not read.

        Raises: QuantityError: a cell is wrong; names the first.
        """
        table = self.matrix.says
        return (
            None if table is None else _matrix(self.matrix.file, table, self.kind.noun, self.unit, self.share)
        )

    @model_validator(mode="after")
    def _can_be_read(self) -> MatrixFile:
        self.read()
        return self


class DelayMatrix(MatrixFile):
    """Delays from a CSV file."""

    unit: Literal["s", "ms", "us", "ns"] | None = Field(None, description=_UNIT)
    value: Literal["one-way", "round-trip"] = Field(
        description="What was measured; half of a round trip is the delay each way."
    )

    kind = _DELAYS

    @property
    def share(self) -> Fraction:  # type: ignore[override]  # Only this kind may be one-way or round-trip.
        return _EACH_WAY[self.value]


class DelayOfRegions(SpecModel):
    """Delays between the regions of a table of the catalogue, which are the zones."""

    regions: RegionTableName = Field(description="The table: `crosswind topology regions` lists them.")

    def read(self) -> Matrix:
        """Return the delays, one way.

        Raises: QuantityError: a cell of the table is missing; names the first.
        """
        given = load_region_table(self.regions)
        return _matrix(self.regions, given.cells, _DELAYS.noun, given.unit, _EACH_WAY[given.value])

    @model_validator(mode="after")
    def _can_be_read(self) -> DelayOfRegions:
        self.read()
        return self


class JitterMatrix(MatrixFile):
    """Standard deviations of delays from a CSV file."""

    unit: Literal["s", "ms", "us", "ns"] | None = Field(None, description=_UNIT)

    kind = _JITTERS


class RateMatrix(MatrixFile):
    """Rates from a CSV file."""

    unit: Literal["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"] | None = Field(None, description=_UNIT)

    kind = _RATES


class LossMatrix(MatrixFile):
    """Shares of lost packets from a CSV file."""

    unit: Literal["%"] | None = Field(None, description=_UNIT)

    kind = _LOSSES


_KINDS = {kind.noun: kind for kind in (_DELAYS, _JITTERS, _RATES, _LOSSES)}


@lru_cache(maxsize=16)
def _matrix(file: str, table: Table, noun: str, unit: str | None, share: Fraction) -> Matrix:
    values = {
        (source, target): _value(_KINDS[noun], file, cell, (source, target), unit, share)
        for source, row in zip(table.names, table.cells, strict=True)
        for target, cell in zip(table.names, row, strict=True)
        if source != target
    }
    return Matrix(table.names, values)


def _value(
    kind: MatrixKind, file: str, cell: Cell, pair: Pair, unit: str | None, share: Fraction
) -> int | None:
    where = f"{shown(file)} row {cell.row} ({pair[0]}), column {cell.column} ({pair[1]})"
    if cell.is_missing:
        raise QuantityError(
            f"{where} is empty; every ordered pair needs a {kind.noun}: fill it in, or remove the zone"
        )
    try:
        value = (
            kind.read(cell.text) if _PLAIN.fullmatch(cell.text) is None else _number(kind, cell.text, unit)
        )
    except QuantityError as error:
        raise QuantityError(f"{where}: {error}") from None
    # Measured values may have fractions of a nanosecond, which are rounded; one half is rounded up.
    return None if value is None else int(value * share + Fraction(1, 2))


def _number(kind: MatrixKind, text: str, unit: str | None) -> Fraction:
    if unit is None:
        raise QuantityError(f"{shown(text)} has no unit; write unit: with one of {', '.join(kind.per_unit)}")
    value = Fraction(text) * kind.per_unit[unit]
    if value < 0:
        raise QuantityError(f"{shown(text)} is negative; write a {kind.noun} of at least zero")
    if value > kind.most:
        raise QuantityError(
            f"{shown(text)} is above the largest {kind.noun}, {kind.most / kind.per_unit[unit]:g}{unit}"
        )
    if kind is _RATES and value < 1:
        raise QuantityError(
            f"{shown(text)} is zero or less than 1 bit/s and would never send; write a rate above zero"
        )
    return value


# --- the ways to write one ----------------------------------------------------------------------------------


# One value for all pairs, a value for each, a file, or a table of the catalogue.
Written = int | None | dict[str, dict[str, int | None]] | MatrixFile | DelayOfRegions


def _written_as(value: object) -> str:
    if isinstance(value, MatrixFile) or (isinstance(value, dict) and "matrix" in value):
        return "a file"
    return "written out" if isinstance(value, dict) else "one value"


def _delay_written_as(value: object) -> str:
    named = isinstance(value, DelayOfRegions) or (isinstance(value, dict) and "regions" in value)
    return "of regions" if named else _written_as(value)


def _no_table(value: object) -> object:
    if isinstance(value, dict) and isinstance(value.get("regions"), str):
        raise QuantityError(
            "cannot be a table of regions, which has delays only; write one value for all pairs, a matrix or "
            "a file"
        )
    return value


def _of(one: Annotation, file: type[MatrixFile], named: type[SpecModel] | None = None) -> Annotation:
    ways: Annotation = (
        Annotated[one, Tag("one value")]
        | Annotated[dict[ZoneName, dict[ZoneName, one]], Field(min_length=1), Tag("written out")]
        | Annotated[file, Tag("a file")]
    )
    if named is None:
        return Annotated[ways, Discriminator(_written_as), BeforeValidator(_no_table)]
    return Annotated[ways | Annotated[named, Tag("of regions")], Discriminator(_delay_written_as)]


DelayOfPairs: Annotation = _of(Duration, DelayMatrix, DelayOfRegions)
JitterOfPairs: Annotation = _of(Duration, JitterMatrix)
RateOfPairs: Annotation = _of(Rate, RateMatrix)
LossOfPairs: Annotation = _of(PartsPerBillion, LossMatrix)


def matrix_of(written: Written) -> Matrix | None:
    """Return the matrix; None where it is one value for all pairs, or a file that was not read."""
    if isinstance(written, MatrixFile | DelayOfRegions):
        return written.read()
    if not isinstance(written, dict):
        return None
    names = dict.fromkeys([*written, *(target for row in written.values() for target in row)])
    values = {
        (source, target): value
        for source, row in written.items()
        for target, value in row.items()
        if source != target
    }
    return Matrix(tuple(names), values)


def missing_cells(written: Written, noun: str, example: str) -> Iterator[Finding]:
    """Yield the pairs without a value in a matrix that is written out, with the path inside it."""
    matrix = matrix_of(written)
    if matrix is None or not isinstance(written, dict):
        return
    for source in matrix.names:
        for target in matrix.names:
            if source == target or (source, target) in matrix.values:
                continue
            if source not in written:
                yield (
                    (source,),
                    f"has no row; every ordered pair needs a {noun}: add {source}: {{{target}: {example}}}",
                )
                break
            yield (
                (source,),
                f"has no {noun} to {target}; every ordered pair needs one: add {target}: {example}",
            )
