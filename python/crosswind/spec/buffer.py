"""Size of a buffer: bytes, packets, a time, or the bandwidth-delay product."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import SIZE, TIME, UNLIMITED, PositiveDuration, QuantityError
from crosswind.spec.scale import scaled

_PACKETS = re.compile(r"([0-9]{1,12})\s?packets?")


@dataclass(frozen=True)
class BufferSize:
    """Size of a buffer. At most one attribute is set; none is unlimited."""

    size_bytes: int | None = None
    packets: int | None = None
    time_ns: int | None = None


class Bdp(SpecModel):
    """A buffer of the bandwidth-delay product, computed once: what the configured rate sends in this time."""

    bdp_ns: PositiveDuration = Field(alias="bdp", description="The delay, such as a round trip.")


def read_buffer_size(value: object) -> BufferSize:
    """Return a limit in bytes, packets or time; the unit says which.

    Raises: QuantityError: no unit, an unknown one, zero.
    """
    text = value if isinstance(value, str) else ""
    if match := _PACKETS.fullmatch(text):
        if int(match[1]) == 0:
            raise QuantityError(f'"{text}" is zero; a buffer must hold a packet')
        return BufferSize(packets=int(match[1]))
    if any(text.endswith(unit) and text[: -len(unit)].rstrip()[-1:].isdigit() for unit in TIME.units):
        return BufferSize(time_ns=TIME.read_positive(value))
    try:
        return BufferSize(size_bytes=SIZE.read_positive(value))
    except QuantityError as error:
        raise QuantityError(f"{error}, or packets such as 1000packets, or a time such as 5ms") from None


def read_buffer_size_or_unlimited(value: object) -> BufferSize:
    """Like `read_buffer_size`, with `unlimited`."""
    return BufferSize() if value == UNLIMITED else read_buffer_size(value)


def _written_as(value: object) -> str:
    return "product" if isinstance(value, dict | Bdp) else "size"


_SIZE = "[0-9]{1,18}(\\.[0-9]{1,12})? ?" + f"({'|'.join([*SIZE.units, *TIME.units, 'packets?'])})"
_EXAMPLES = ["512KiB", "1000packets", "5ms"]


def _schema(pattern: str, *more: str) -> WithJsonSchema:
    description = "Bytes, packets, or what the rate sends in a time."
    return WithJsonSchema(
        {
            "type": "string",
            "pattern": f"^{pattern}$",
            "description": description,
            "examples": [*_EXAMPLES, *more],
        }
    )


Buffer = Annotated[
    Annotated[BufferSize, PlainValidator(read_buffer_size), _schema(_SIZE), Tag("size")]
    | Annotated[Bdp, Tag("product")],
    Discriminator(_written_as),
]
BufferOrUnlimited = Annotated[
    Annotated[
        BufferSize,
        PlainValidator(read_buffer_size_or_unlimited),
        _schema(f"({_SIZE}|{UNLIMITED})", UNLIMITED),
        Tag("size"),
    ]
    | Annotated[Bdp, Tag("product")],
    Discriminator(_written_as),
]


def resolved_buffer(buffer: BufferSize | Bdp, rate_bps: int | None, scale: float) -> dict[str, int | None]:
    """Return the buffer's key for the agent, scaled.

    Args:
        rate_bps: the rate that empties the buffer, before scaling; not None for a bandwidth-delay product.
    """
    if isinstance(buffer, Bdp):
        return {"buffer_bytes": product_bytes(rate_bps, buffer.bdp_ns, scale)}
    if buffer.packets is not None:
        return {"buffer_packets": scaled(buffer.packets, scale)}
    if buffer.time_ns is not None:
        return {"buffer_ns": buffer.time_ns}
    return {"buffer_bytes": scaled(buffer.size_bytes, scale)}


def product_bytes(rate_bps: int | None, time_ns: int, scale: float) -> int:
    """Return the bytes that a rate, scaled, sends in a time, rounded up."""
    assert rate_bps is not None  # A product with an unlimited rate was refused when the file was read.
    return math.ceil(scaled(rate_bps, scale) * time_ns / (8 * 10**9))
