"""What must hold in a queue: rules that a single value cannot show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from crosswind.spec.base import keys_of
from crosswind.spec.buffer import Bdp, Room
from crosswind.spec.document import Path
from crosswind.spec.draft import sound_field, value_at
from crosswind.spec.quantities import shown
from crosswind.spec.queue import Codel, EarlyDrop, Managed, Profile, Queue, Red, Wred
from crosswind.spec.scale import scaled, unscaled

Finding = tuple[Path, str]


@dataclass(frozen=True)
class Emptied:
    """What empties a queue, and what it must be able to hold."""

    rate_bps: int | None  # As written; None: not known, or unlimited.
    unlimited: bool
    mtu_bytes: int | None  # None: not known.
    scale: float


def queue_findings(model: type[BaseModel], path: Path, raw: Any, by: Emptied) -> Iterator[Finding]:
    """Yield what is wrong with the buffer, drop policy and ECN of the mapping `raw`, which `model` reads."""
    buffer = sound_field(model, "buffer", raw)
    yield from buffer_findings(buffer, (*path, "buffer"), value_at(raw, "buffer"), by)
    drop = sound_field(Managed, "drop", raw)
    if sound_field(Managed, "ecn", raw) is True and isinstance(drop, str):
        early = ", ".join(keys_of(EarlyDrop))
        message = f"marks nothing: {drop} drops only when the buffer is full; remove it, or drop by {early}"
        yield (*path, "ecn"), message
    if isinstance(drop, EarlyDrop):
        yield from (((*path, "drop", *inner), message) for inner, message in _early_findings(drop, by.scale))


def memory_findings(
    path: Path, shared: Any, queues: list[tuple[Path, Any]], by: Emptied
) -> Iterator[Finding]:
    """Yield what is wrong with a memory: that of the mapping `shared`, for `queues` with their paths."""
    memory_bytes = sound_field(Queue, "memory_bytes", shared)
    text = value_at(shared, "memory")
    if memory_bytes is not None:
        yield from buffer_findings(Room(size_bytes=memory_bytes), (*path, "memory"), text, by)
    for inner, queue in queues:
        if text is None and value_at(queue, "alpha") is not None:
            yield (*path, *inner, "alpha"), "is a part of no memory; add memory: 1MB or more, or remove it"
        if text is not None and value_at(queue, "drop") == "head":
            message = "pushes out packets of its own queue only, and cannot share a memory; drop by tail"
            yield (*path, *inner, "drop"), f"{message}, {', '.join(keys_of(EarlyDrop))}"


def _early_findings(drop: EarlyDrop, scale: float) -> Iterator[Finding]:
    match drop.given:
        case Codel() as codel if codel.target_ns > codel.interval_ns:
            yield ("codel",), "has a target above its interval; a target is usually 5% of it"
        case Red() as red:
            yield from _profile_findings(("red",), red, scale)
        case Wred() as wred:
            for colour in ("green", "yellow", "red"):
                yield from _profile_findings(("wred", colour), getattr(wred, colour), scale)


def _profile_findings(path: Path, profile: Profile, scale: float) -> Iterator[Finding]:
    least, most = scaled(profile.min_bytes, scale), scaled(profile.max_bytes, scale)
    if not 0 < least < most:
        after = "" if scale == 1 else f" after scaling by {scale:g}"
        yield path, f"has min {least}B and max {most}B{after}; give 0B < min < max"


def buffer_findings(buffer: Room | Bdp | None, path: Path, raw: Any, by: Emptied) -> Iterator[Finding]:
    """Yield what is wrong with a buffer: it must hold a packet, and have the rate that it is sized from."""
    if buffer is None:
        return
    time_ns = buffer.bdp_ns if isinstance(buffer, Bdp) else buffer.time_ns
    if time_ns is not None:
        yield from _time_findings(time_ns, path, raw, by)
    elif isinstance(buffer, Room) and buffer.packets is not None:
        if scaled(buffer.packets, by.scale) == 0:
            least = unscaled(1, by.scale)
            yield path, f"{shown(raw)} scaled by {by.scale:g} is no packet; write at least {least}packets"
    elif isinstance(buffer, Room) and buffer.size_bytes is not None:
        is_small = by.mtu_bytes is not None and scaled(buffer.size_bytes, by.scale) < by.mtu_bytes
        if is_small and by.mtu_bytes is not None:
            yield path, too_small(raw, buffer.size_bytes, by.mtu_bytes, by.scale)


def _time_findings(time_ns: int, path: Path, raw: Any, by: Emptied) -> Iterator[Finding]:
    if by.unlimited:
        yield path, "is a time at an unlimited rate; write bytes or packets, or give a rate"
    elif by.rate_bps is not None and by.mtu_bytes is not None:
        rate_bps = scaled(by.rate_bps, by.scale)
        if rate_bps * time_ns < by.mtu_bytes * 8 * 10**9:
            written = shown(raw.get("bdp") if isinstance(raw, dict) else raw)
            least_ns = math.ceil(by.mtu_bytes * 8 * 10**9 / rate_bps)
            yield (
                path,
                f"{written} at {rate_bps}bit/s is less than one packet of {by.mtu_bytes}B; "
                f"write at least {least_ns}ns",
            )


def too_small(text: object, size_bytes: int, mtu_bytes: int, scale: float) -> str:
    """Say that a burst or buffer cannot hold one packet."""
    after = "" if scale == 1 else f" (scaled by {scale:g}: {scaled(size_bytes, scale)}B)"
    least_bytes = unscaled(mtu_bytes, scale)
    return f"{shown(text)}{after} is smaller than one packet of {mtu_bytes}B; write at least {least_bytes}B"
