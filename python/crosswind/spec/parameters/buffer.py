"""The buffer of an element: the least that it must hold, and how it is sent."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.spec.base import field_of
from crosswind.spec.buffer import Bdp, Buffer, BufferOrUnlimited, BufferSize, resolved_buffer
from crosswind.spec.draft import reader_as, sound, sound_field, value_at
from crosswind.spec.parameters.one_packet import packet_finding
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import UNLIMITED, shown
from crosswind.spec.resolved import Parameters
from crosswind.spec.scale import scaled, unscaled
from crosswind.spec.setting import Finding


@dataclass(frozen=True)
class Emptied:
    """The rate that empties a queue, and the packet that the queue must hold."""

    rate_bps: int | None  # As written; None: unknown, or unlimited.
    unlimited: bool
    mtu_bytes: int | None  # None: unknown.
    scale: float


def buffer_findings(buffer: BufferSize | Bdp | None, raw: JsonValue, by: Emptied) -> Iterator[Finding]:
    """Yield what is wrong with a buffer: it must hold a packet, and a buffer in time needs a rate."""
    if buffer is None:
        return
    time_ns = buffer.bdp_ns if isinstance(buffer, Bdp) else buffer.time_ns
    if time_ns is not None:
        yield from _time_findings(time_ns, raw, by)
    elif isinstance(buffer, BufferSize) and buffer.packets is not None:
        if scaled(buffer.packets, by.scale) == 0:
            least = unscaled(1, by.scale)
            yield (
                (),
                f"{shown(raw)} scaled by {by.scale:g} is less than one packet; write at least {least}packets",
            )
    elif isinstance(buffer, BufferSize) and buffer.size_bytes is not None and by.mtu_bytes is not None:
        yield from packet_finding(raw, buffer.size_bytes, by.mtu_bytes, by.scale)


def _time_findings(time_ns: int, raw: JsonValue, by: Emptied) -> Iterator[Finding]:
    if by.unlimited:
        yield (), "is a time, and the rate is unlimited; write bytes or packets, or give a rate"
    elif by.rate_bps is not None and by.mtu_bytes is not None:
        rate_bps = scaled(by.rate_bps, by.scale)
        if rate_bps * time_ns < by.mtu_bytes * 8 * 10**9:
            written = shown(raw.get("bdp") if isinstance(raw, dict) else raw)
            least_ns = math.ceil(by.mtu_bytes * 8 * 10**9 / rate_bps)
            yield (
                (),
                f"{written} at {rate_bps}bit/s is less than one packet of {by.mtu_bytes}B; "
                f"write at least {least_ns}ns",
            )


class BufferReader:
    """Reads a buffer of an element.

    Args:
        rate: the element's parameter with the rate that empties it; None: the rate of the link.
        unlimited: whether `unlimited` is allowed.
    """

    def __init__(self, rate: str | None = None, *, unlimited: bool = False) -> None:
        self._rate = rate
        self.annotation = BufferOrUnlimited if unlimited else Buffer

    def sent(self, name: str, value: BufferSize | Bdp, sending: Sending) -> Parameters:
        """Return the buffer in bytes, packets or ns; the key says which."""
        rate_bps = sending.uplink_bps
        if self._rate is not None:
            rate_bps = getattr(sending.element, field_of(type(sending.element), self._rate))
        resolved = resolved_buffer(value, rate_bps, sending.scale)
        return {key.replace("buffer", name): size for key, size in resolved.items()}

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield that it does not hold a packet, or that a time has no rate."""
        yield from buffer_findings(sound(reader_as(self.annotation), raw), raw, self._emptied(around))

    def _emptied(self, around: Around) -> Emptied:
        setting = around.setting
        if self._rate is None:
            rate_bps, unlimited = setting.uplink_bps, setting.uplink_unlimited
        else:
            rate_bps = sound_field(around.model, field_of(around.model, self._rate), around.element)
            unlimited = value_at(around.element, self._rate) == UNLIMITED
        return Emptied(rate_bps, unlimited, setting.mtu_bytes, setting.scale)
