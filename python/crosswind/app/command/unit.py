"""Units of a user's metrics: those that files may have, and the base units in metrics.parquet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from crosswind.spec.quantities import RATE, SIZE, TIME, QuantityError, shown
from crosswind.text.nearest import did_you_mean


@dataclass(frozen=True)
class MetricUnit:
    """A unit; a value in it times `factor` is the value in `base`."""

    word: str
    base: str
    factor: float


_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

UNITS: dict[str, MetricUnit] = {
    unit.word: unit
    for unit in (
        *(MetricUnit(word, "ns", factor) for word, factor in TIME.units.items()),
        *(MetricUnit(word, "B", factor) for word, factor in SIZE.units.items()),
        *(MetricUnit(f"{word}/s", "B/s", factor) for word, factor in SIZE.units.items()),
        *(MetricUnit(word, "bit/s", factor) for word, factor in RATE.units.items()),
        *(MetricUnit(f"{prefix}flop/s", "flop/s", factor) for prefix, factor in _PREFIXES.items()),
        *(MetricUnit(word, "1/s", 1.0) for word in ("1/s", "/s")),
        MetricUnit("count", "count", 1.0),
        MetricUnit("1", "1", 1.0),
        MetricUnit("%", "1", 0.01),
    )
}
_ALL = f"units are {', '.join(UNITS)}"
# Programs also print microseconds with the micro sign or the Greek letter.
_PRINTED = {"µs": "us", "μs": "us"}


def unit_of(word: str) -> MetricUnit:
    """Return the unit with a name in a file or in an output.

    Raises: QuantityError: there is no such unit; the message has the nearest one, or all.
    """
    unit = UNITS.get(_PRINTED.get(word, word))
    if unit is None:
        usual = next((kind.misspelt[word] for kind in (TIME, SIZE, RATE) if word in kind.misspelt), None)
        meant = did_you_mean(word, UNITS) if usual is None else f"write {usual}"
        raise QuantityError(f"{shown(word)} is not a unit; {meant or _ALL}")
    return unit


def _read(value: object) -> str:
    # YAML reads the unit of a ratio as a number.
    return unit_of(str(value) if isinstance(value, str | int) and not isinstance(value, bool) else "").word


UnitWord = Annotated[
    str,
    PlainValidator(_read),
    WithJsonSchema({"description": "Unit of the number in the output.", "enum": list(UNITS)}),
]
