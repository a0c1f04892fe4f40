"""Units of a user's metrics: what may be written, and the base unit that metrics.parquet keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from crosswind.spec.nearest import did_you_mean
from crosswind.spec.quantities import RATE, SIZE, TIME, QuantityError, shown


@dataclass(frozen=True)
class Unit:
    """A unit as it is written; a value in it times `factor` is the value in `base`."""

    word: str
    base: str
    factor: float


_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

UNITS: dict[str, Unit] = {
    unit.word: unit
    for unit in (
        *(Unit(word, "ns", factor) for word, factor in TIME.units.items()),
        *(Unit(word, "B", factor) for word, factor in SIZE.units.items()),
        *(Unit(f"{word}/s", "B/s", factor) for word, factor in SIZE.units.items()),
        *(Unit(word, "bit/s", factor) for word, factor in RATE.units.items()),
        *(Unit(f"{prefix}flop/s", "flop/s", factor) for prefix, factor in _PREFIXES.items()),
        *(Unit(word, "1/s", 1.0) for word in ("1/s", "/s")),
        Unit("count", "count", 1.0),
        Unit("1", "1", 1.0),
        Unit("%", "1", 0.01),
    )
}
_ALL = f"units are {', '.join(UNITS)}"
# What programs print for microseconds besides `us`: the micro sign and the Greek letter.
_PRINTED = {"µs": "us", "μs": "us"}


def unit_of(word: str) -> Unit:
    """Return the unit that a program or a file wrote.

    Raises: QuantityError: no such unit; names the nearest, or all.
    """
    unit = UNITS.get(_PRINTED.get(word, word))
    if unit is None:
        usual = next((kind.misspelt[word] for kind in (TIME, SIZE, RATE) if word in kind.misspelt), None)
        meant = did_you_mean(word, UNITS) if usual is None else f"write {usual}"
        raise QuantityError(f"{shown(word)} is not a unit; {meant or _ALL}")
    return unit


def _read(value: object) -> str:
    # The unit of a ratio arrives as a number from YAML.
    return unit_of(str(value) if isinstance(value, str | int) and not isinstance(value, bool) else "").word


UnitWord = Annotated[
    str,
    PlainValidator(_read),
    WithJsonSchema({"description": "Of the number as it is written.", "enum": list(UNITS)}),
]
