"""One level of a factor: the value as written, and its number and unit if it is a quantity."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from crosswind.spec.quantities import RATE, SIZE, TIME, VOLUME, Dimension, QuantityError, read_share, shown

_DIGITS = 3  # Of a level between the ends of a range.

# Each dimension, and the unit of its levels (contracts.md, section 5). No unit is in two of them.
_DIMENSIONS: tuple[tuple[Dimension, str], ...] = (
    (RATE, "bit/s"),
    (SIZE, "B"),
    (TIME, "ns"),
    (VOLUME, "bit"),
)
_SHARE = "share"
_NUMBER = "1"


@dataclass(frozen=True)
class Level:
    """A value that conditions are given.

    Attributes:
        written: as in the file: text, a number, or true or false.
        number: in `unit`; None for a name, such as `cubic` or `unlimited`.
        unit: `bit/s`, `B`, `ns`, `bit`, `share`, `1` for a plain number; None for a name.
    """

    written: str | int | float | bool
    number: float | None
    unit: str | None

    @property
    def text(self) -> str:
        """The level in messages and summaries."""
        return str(self.written).lower() if isinstance(self.written, bool) else str(self.written)

    @property
    def word(self) -> str:
        """The level as part of a condition's name: 10Gbit/s is `10gbit`, 5% is `5pct`."""
        plain = self.text.lower().removesuffix("/s").replace("%", "pct").replace(" ", "")
        return re.sub(r"[^a-z0-9._-]", "-", plain)

    def same_as(self, other: Level) -> bool:
        """Whether both mean the same: 1ms and 1000us do."""
        if self.unit is None or other.unit is None:
            return self.text == other.text
        return (self.number, self.unit) == (other.number, other.unit)


def read_level(value: object) -> Level:
    """Return a level.

    Raises: QuantityError: not text, a number, true or false; or an invalid quantity, such as -1ms.
    """
    if isinstance(value, bool):
        return Level(value, None, None)
    if isinstance(value, int | float):
        return Level(value, value, _NUMBER)
    if not isinstance(value, str) or not value.strip():
        raise QuantityError(
            f"{shown(value)} is not a level; write a quantity with its unit, a number or a word"
        )
    unit = re.sub(r"^[+-]?[0-9.]+ ?", "", value)
    for dimension, base in _DIMENSIONS:
        if unit != value and unit in dimension.units:
            return Level(value, dimension.read(value), base)
    if unit != value and unit == "%":
        return Level(value, read_share(value), _SHARE)
    return Level(value, None, None)


def level_of(number: float, unit: str) -> Level:
    """Return a level of `number` in `unit`, rounded to three digits and written in a suitable unit.

    Units that count whole numbers (ns, B, bit, bit/s, plain numbers) get whole numbers.
    """
    if unit == _SHARE:
        return read_level(f"{_rounded(100 * number):g}%")
    whole = round(_rounded(number))
    if unit == _NUMBER:
        return read_level(whole)
    dimension = next(each for each, base in _DIMENSIONS if base == unit)
    # Steps of a thousand; KiB, minutes and hours are left out.
    steps = {name: size for name, size in dimension.units.items() if math.log10(size) % 3 == 0}
    name = next((name for name, size in reversed(steps.items()) if whole >= size), next(iter(steps)))
    return read_level(f"{whole / steps[name]:.12g}{name}")


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


LevelValue = Annotated[
    Level,
    PlainValidator(read_level),
    WithJsonSchema(
        {
            "type": ["string", "number", "boolean"],
            "description": "A quantity with its unit, a number, or a word.",
            "examples": ["1Gbit/s", "500us", "5%"],
        }
    ),
]
