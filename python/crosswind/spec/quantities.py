"""Read quantities with their unit: rates, sizes, times, shares, operations per second, DSCPs.

Text without a unit is refused, and the message lists the units. Zero never means infinity: "no limit" is
written `unlimited` and becomes None. Values are integers in the base unit (bit/s, byte, ns); shares
are floats.

The types at the end are for pydantic models: `rate_bps: Rate = Field(alias="rate")`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

UNLIMITED = "unlimited"
AUTO = "auto"

# Longer numbers are typing errors; with the check below, the bound also keeps every value inside 64 bits.
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,12})?"
_TEXT = re.compile(rf"(?P<sign>[+-]?)(?P<number>{_NUMBER}) ?(?P<unit>[^\s0-9].*)?", re.DOTALL)
_LARGEST = 2**63 - 1  # All code stores quantities in 64 bits.


class QuantityError(ValueError):
    """A value is not the expected quantity; the message starts with the value, in quotes."""


@dataclass(frozen=True)
class Dimension:
    """One kind of quantity: its name, its units, and common misspellings of these."""

    noun: str
    units: Mapping[str, int]  # Unit to base units.
    usual: str  # The suggested unit where there is none.
    misspelt: Mapping[str, str] = field(
        default_factory=dict
    )  # Casefolded; units in the wrong case need no entry.

    def read(self, value: object) -> int:
        """Return `value` in base units, zero allowed.

        Raises: QuantityError: no unit, an unknown unit, negative, not a whole number of base units, or above
        63 bits.
        """
        text = _as_text(value)
        match = _TEXT.fullmatch(text) if text is not None else None
        if match is None or text is None:
            raise QuantityError(
                f"{shown(value)} is not a {self.noun}; write a number with a unit, such as 10{self.usual}"
            )
        number, unit = match["number"], match["unit"]
        if unit is None:
            raise QuantityError(
                f'"{text}" has no unit; write {number}{self.usual} (units: {", ".join(self.units)})'
            )
        if unit not in self.units:
            raise QuantityError(f"{shown(text)} has an unknown unit; {self._remedy(number, unit)}")
        if match["sign"] == "-":
            raise QuantityError(f'"{text}" is negative; write a {self.noun} of at least zero')
        base = Fraction(number) * self.units[unit]
        if base.denominator != 1:
            smallest = next(iter(self.units))
            raise QuantityError(f'"{text}" is not a whole number of {smallest}; round it')
        if base > _LARGEST:
            raise QuantityError(
                f'"{text}" is too large; the largest {self.noun} is {_LARGEST}{next(iter(self.units))}'
            )
        return int(base)

    def read_positive(self, value: object) -> int:
        """Like `read`, but zero is refused."""
        base = self.read(value)
        if base == 0:
            raise QuantityError(f'"{value}" is zero; write a {self.noun} above zero')
        return base

    def text(self, base: int) -> str:
        """Return base units as text, in the largest unit in which it is whole; zero in the smallest."""
        if base == 0:
            return f"0{min(self.units, key=lambda u: self.units[u])}"
        unit = max((unit for unit in self.units if base % self.units[unit] == 0), key=lambda u: self.units[u])
        return f"{base // self.units[unit]}{unit}"

    def _remedy(self, number: str, unit: str) -> str:
        folded = unit.strip().casefold()
        for known in self.units:
            if known.casefold() == folded:
                return f"write {number}{known}"
        if folded in self.misspelt:
            return f"write {number}{self.misspelt[folded]}"
        return f"units are {', '.join(self.units)}"


RATE = Dimension(
    noun="rate",
    units={"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9, "Tbit/s": 10**12},
    usual="Mbit/s",
    misspelt={
        form.format(prefix): f"{prefix.upper() if prefix in 'mgt' else prefix}bit/s"
        for prefix in ("", "k", "m", "g", "t")
        for form in ("{}bps", "{}bit", "{}bits/s", "{}bit/sec", "{}b/s")
    },
)
SIZE = Dimension(
    noun="size",
    units={"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
    usual="kB",
    misspelt={
        "byte": "B",
        "bytes": "B",
        "k": "kB",
        "m": "MB",
        "g": "GB",
        "ki": "KiB",
        "mi": "MiB",
        "gi": "GiB",
    },
)
BYTE_RATE = Dimension(
    noun="rate of a disk",
    units={f"{unit}/s": factor for unit, factor in SIZE.units.items()},
    usual="MiB/s",
    misspelt={"m/s": "MB/s", "mbps": "MB/s", "kbps": "kB/s", "mb/sec": "MB/s", "mib/sec": "MiB/s"},
)
VOLUME = Dimension(
    noun="amount of data",
    units={"bit": 1, "kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9, "Tbit": 10**12},
    usual="Gbit",
    misspelt={
        form.format(prefix): f"{prefix.upper() if prefix in 'mgt' else prefix}bit"
        for prefix in ("", "k", "m", "g", "t")
        for form in ("{}bits", "{}b", "{}bit/s")
    },
)
TIME = Dimension(
    noun="time",
    units={"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9},
    usual="ms",
    misspelt={
        "µs": "us", "μs": "us", "usec": "us", "msec": "ms", "sec": "s", "secs": "s", "second": "s", "seconds":
        "s", "m": "min", "mins": "min", "minute": "min", "minutes": "min", "hour": "h", "hours": "h", "hr":
        "h",
    },
)  # fmt: skip


def read_rate(value: object) -> int | None:
    """Return bits per second, or None for `unlimited`. Zero is refused: it would never send."""
    if value == UNLIMITED:
        return None
    rate_bps = RATE.read(value)
    if rate_bps == 0:
        raise QuantityError(f'"{value}" is zero and would never send; write a rate above zero, or unlimited')
    return rate_bps


def read_limited_rate(value: object) -> int:
    """Return bits per second above zero; `unlimited` is refused."""
    rate_bps = read_rate(value)
    if rate_bps is None:
        raise QuantityError(f'"{value}" is not a limit; write a rate, such as 1Gbit/s')
    return rate_bps


def read_duration_or_auto(value: object) -> int | None:
    """Return nanoseconds, None for `auto`."""
    return None if value == AUTO else TIME.read(value)


def read_level(value: object) -> int | None:
    """Return bits per second that a link carries at some time; None for `unlimited`, 0 for an outage."""
    return None if value == UNLIMITED else RATE.read(value)


def read_share(value: object) -> float:
    """Return a share in [0, 1] from text such as `5%`."""
    return float(_share(value))


def read_parts_per_billion(value: object) -> int:
    """Return a share as parts per billion, in 0..10^9: exact, so all code has the same value."""
    parts = _share(value) * 10**9
    if parts.denominator != 1:
        raise QuantityError(f'"{value}" is finer than a part per billion; round it to seven decimals')
    return int(parts)


def read_positive_parts_per_billion(value: object) -> int:
    """Like `read_parts_per_billion`, but zero is refused."""
    parts = read_parts_per_billion(value)
    if parts == 0:
        raise QuantityError(f'"{value}" is zero and has no effect; write a share above zero, or remove it')
    return parts


def _share(value: object) -> Fraction:
    text = _as_text(value)
    match = re.fullmatch(rf"([+-]?{_NUMBER}) ?(%?)", text) if text is not None else None
    if match is None:
        raise QuantityError(f"{shown(value)} is not a share; write a percentage, such as 5%")
    if not match[2]:
        meant = Fraction(match[1])
        # Programs write 0.95 for 95 %; writing 0.95% would give a hundredth of it.
        share_of_one = f"{float(100 * meant):.10g}% or " if 0 < meant < 1 else ""
        raise QuantityError(f'"{text}" has no unit; write {share_of_one}{match[1]}% (units: %)')
    share = Fraction(match[1]) / 100
    if not 0 <= share <= 1:
        raise QuantityError(f'"{text}" is outside 0% to 100%')
    return share


@dataclass(frozen=True)
class Intensity:
    """Bits per second, absolute or as a share of the uplink. Exactly one of the two is set."""

    rate_bps: int | None = None
    share: float | None = None  # In [0, 1].

    def of(self, uplink_bps: int) -> int:
        """Return bits per second, given the uplink's."""
        return self.rate_bps if self.rate_bps is not None else round((self.share or 0.0) * uplink_bps)


def read_intensity(value: object) -> Intensity:
    """Return a rate, or a share of the uplink. Zero is allowed: as the lower end of a distribution."""
    text = _as_text(value)
    if text is not None and text.endswith("%"):
        return Intensity(share=read_share(value))
    try:
        return Intensity(rate_bps=RATE.read(value))
    except QuantityError as error:
        raise QuantityError(f"{error}, or a share of the uplink such as 50%") from None


def read_operations_per_second(value: object) -> float:
    """Return operations per second above zero, from text such as `1000/s`."""
    text = _as_text(value)
    match = re.fullmatch(rf"({_NUMBER})( ?/s)?", text) if text is not None else None
    if match is None:
        raise QuantityError(
            f"{shown(value)} is not a rate of operations; write a number per second, such as 1000/s"
        )
    if match[2] is None:
        raise QuantityError(f'"{text}" has no unit; write {match[1]}/s (units: /s)')
    rate = float(match[1])
    if rate == 0:
        raise QuantityError(f'"{text}" is zero; remove the rate for a closed loop')
    return rate


# RFC 2474 (CS), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VOICE-ADMIT), RFC 8622 (LE). AFxy is 8x + 2y.
DSCP_NAMES: Mapping[str, int] = {
    **{f"CS{precedence}": 8 * precedence for precedence in range(8)},
    **{f"AF{tier}{drop}": 8 * tier + 2 * drop for tier in range(1, 5) for drop in range(1, 4)},
    "EF": 46,
    "VA": 44,
    "LE": 1,
}


def read_dscp(value: object) -> int:
    """Return a DSCP in 0..63 from its number or its name."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 63:
        return value
    if isinstance(value, str) and value.upper() in DSCP_NAMES:
        return DSCP_NAMES[value.upper()]
    raise QuantityError(
        f"{shown(value)} is not a DSCP; write 0 to 63, or CS0 to CS7, AF11 to AF43, EF, VA, LE"
    )


def shown(value: object) -> str:
    """Return `value` as messages show it: in double quotes, short, on one line."""
    if value is None:
        return "an empty value"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return f'"{text[:40]}…"' if len(text) > 40 else f'"{text}"'


def _as_text(value: object) -> str | None:
    """Return a value as text; YAML gives a number without a unit as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, int) and abs(value) > _LARGEST:
        return None
    return str(value)


def _quantity(
    read: Callable[[object], object], pattern: str, description: str, *examples: str
) -> tuple[PlainValidator, WithJsonSchema]:
    """Return the pydantic annotations of a quantity in text."""
    schema = {
        "type": "string",
        "pattern": f"^{pattern}$",
        "description": description,
        "examples": list(examples),
    }
    return PlainValidator(read), WithJsonSchema(schema)


def _pattern(dimension: Dimension) -> str:
    return rf"{_NUMBER} ?({'|'.join(dimension.units)})"


_RATE, _SIZE, _TIME, _SHARE = _pattern(RATE), _pattern(SIZE), _pattern(TIME), rf"{_NUMBER} ?%"
_VOLUME = _pattern(VOLUME)

Rate = Annotated[
    int | None,
    *_quantity(read_rate, rf"({_RATE}|unlimited)", "Bits per second.", "10Gbit/s", "100Mbit/s", "unlimited"),
]
LimitedRate = Annotated[
    int, *_quantity(read_limited_rate, _RATE, "Bits per second, above zero.", "10Gbit/s", "100Mbit/s")
]
AnySize = Annotated[int, *_quantity(SIZE.read, _SIZE, "Bytes; zero is none.", "0B", "100MiB")]
ByteRate = Annotated[
    int,
    *_quantity(BYTE_RATE.read_positive, _pattern(BYTE_RATE), "Bytes per second.", "1MiB/s", "500kB/s"),
]
Level = Annotated[
    int | None,
    *_quantity(
        read_level,
        rf"({_RATE}|unlimited)",
        "Bits per second; zero is an outage.",
        "100Mbit/s",
        "0bit/s",
        "unlimited",
    ),
]
LimitedLevel = Annotated[
    int, *_quantity(RATE.read, _RATE, "Bits per second; zero is an outage.", "100Mbit/s", "0bit/s")
]
Size = Annotated[int, *_quantity(SIZE.read_positive, _SIZE, "Bytes, above zero.", "512KiB", "100kB")]
SizeOrZero = Annotated[int, *_quantity(SIZE.read, _SIZE, "Bytes; zero is allowed.", "100kB", "0B")]
Volume = Annotated[int, *_quantity(VOLUME.read_positive, _VOLUME, "Bits, above zero.", "5400Gbit", "100Mbit")]
VolumeOrZero = Annotated[int, *_quantity(VOLUME.read, _VOLUME, "Bits; zero is allowed.", "10Gbit", "0bit")]
Duration = Annotated[int, *_quantity(TIME.read, _TIME, "A time; zero is allowed.", "2us", "1s", "30min")]
DurationOrAuto = Annotated[
    int | None,
    *_quantity(
        read_duration_or_auto,
        rf"({_TIME}|auto)",
        "A time; zero is allowed. Or `auto`.",
        "1s",
        "500ms",
        "auto",
    ),
]
PositiveDuration = Annotated[
    int, *_quantity(TIME.read_positive, _TIME, "A time above zero.", "10ms", "5s", "30min")
]
Share = Annotated[float, *_quantity(read_share, _SHARE, "A percentage.", "5%", "95%")]
PartsPerBillion = Annotated[int, *_quantity(read_parts_per_billion, _SHARE, "A percentage.", "1%", "0.01%")]
PositivePartsPerBillion = Annotated[
    int, *_quantity(read_positive_parts_per_billion, _SHARE, "A percentage above zero.", "1%", "0.01%")
]
RateOrShare = Annotated[
    Intensity,
    *_quantity(
        read_intensity, rf"({_RATE}|{_SHARE})", "Bits per second, or a share of the uplink.", "50%", "5Gbit/s"
    ),
]
OperationRate = Annotated[
    float, *_quantity(read_operations_per_second, rf"{_NUMBER} ?/s", "Operations per second.", "1000/s")
]
Dscp = Annotated[
    int,
    PlainValidator(read_dscp),
    WithJsonSchema(
        {
            "description": "A DSCP by number or name.",
            "anyOf": [{"type": "integer", "minimum": 0, "maximum": 63}, {"enum": list(DSCP_NAMES)}],
        }
    ),
]
