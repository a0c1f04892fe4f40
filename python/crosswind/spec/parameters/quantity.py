"""Numbers with a unit, and plain ones: rates, sizes, amounts, times, shares, DSCPs, counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated

from pydantic import Field, JsonValue, ValidatorFunctionWrapHandler, WrapValidator

from crosswind.spec.base import Annotation
from crosswind.spec.description import Quantity
from crosswind.spec.draft import reader_as, sound
from crosswind.spec.parameters.one_packet import packet_finding
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import (
    RATE,
    SIZE,
    TIME,
    VOLUME,
    Dscp,
    Duration,
    Level,
    LimitedLevel,
    LimitedRate,
    PartsPerBillion,
    PositiveDuration,
    PositivePartsPerBillion,
    QuantityError,
    Rate,
    Size,
    SizeOrZero,
    Volume,
    VolumeOrZero,
    shown,
)
from crosswind.spec.resolved import Parameters
from crosswind.spec.scale import scaled
from crosswind.spec.setting import Finding

# By the quantity, whether zero is allowed, and whether `unlimited` is.
_WRITTEN_WITH_UNIT: Mapping[tuple[str, bool, bool], Annotation] = {
    ("rate", False, True): Rate,
    ("rate", False, False): LimitedRate,
    ("rate", True, True): Level,
    ("rate", True, False): LimitedLevel,
    ("size", False, False): Size,
    ("size", True, False): SizeOrZero,
    ("bits", False, False): Volume,
    ("bits", True, False): VolumeOrZero,
    ("duration", False, False): PositiveDuration,
    ("duration", True, False): Duration,
    ("share", False, False): PositivePartsPerBillion,
    ("share", True, False): PartsPerBillion,
}
_DIMENSIONS = {"rate": RATE, "size": SIZE, "bits": VOLUME, "duration": TIME}


class QuantityReader:
    """Reads a quantity; `is_scaled`: whether it is multiplied by the scale where it is sent."""

    def __init__(self, quantity: Quantity, *, is_scaled: bool) -> None:
        self._quantity = quantity
        self._is_scaled = is_scaled
        self.annotation = _annotation(quantity)

    def sent(self, name: str, value: float | None, sending: Sending) -> Parameters:
        """Return the number in base units, scaled where `is_scaled`."""
        if self._quantity.times != 1 and value is not None:
            value = int(Fraction(repr(value)) * self._quantity.times)
        return {name: scaled(value, sending.scale) if self._is_scaled and isinstance(value, int) else value}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield that it is less than one packet, where it must not be. A zero that is allowed is no error."""
        mtu_bytes = around.setting.mtu_bytes
        if not self._quantity.packet or mtu_bytes is None:
            return
        value = sound(reader_as(self.annotation), raw)
        if value:
            in_bits = self._quantity.quantity == "bits"
            yield from packet_finding(raw, value, mtu_bytes, around.setting.scale, in_bits=in_bits)


def _annotation(quantity: Quantity) -> Annotation:
    match quantity.quantity:
        case "dscp":
            return Dscp
        case "count":
            return Annotated[int, Field(ge=int(quantity.least), le=quantity.most)]
        case "number":
            return Annotated[float, Field(ge=quantity.least, le=quantity.most)]
    written = _WRITTEN_WITH_UNIT[quantity.quantity, quantity.least == 0, quantity.unlimited]
    if quantity.least <= 1 and quantity.most is None:
        return written
    return Annotated[written, _bounded(quantity)]


def _bounded(quantity: Quantity) -> WrapValidator:
    least, most = quantity.least, quantity.most

    def check(value: object, read: ValidatorFunctionWrapHandler) -> int | None:
        base: int | None = read(value)
        if base is not None and base < least:
            raise QuantityError(f"{shown(value)} is too small; write at least {_text(quantity, least)}")
        if base is not None and most is not None and base > most:
            raise QuantityError(f"{shown(value)} is too large; write at most {_text(quantity, most)}")
        return base

    return WrapValidator(check)


def _text(quantity: Quantity, base: float) -> str:
    """Return a bound as a file writes it."""
    if quantity.quantity not in _DIMENSIONS:
        return f"{base / 1e7:g}%"
    return _DIMENSIONS[quantity.quantity].text(int(base))
