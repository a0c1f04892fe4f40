"""The rule that a bucket or buffer holds at least one packet, after scaling."""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.spec.quantities import shown
from crosswind.spec.scale import scaled, unscaled
from crosswind.spec.setting import Finding


def packet_finding(
    raw: object, value: int, mtu_bytes: int, scale: float, *, in_bits: bool = False
) -> Iterator[Finding]:
    """Yield that `value`, in bytes or bits, cannot hold a packet of the MTU; nothing where it can."""
    unit, needed = ("bit", 8 * mtu_bytes) if in_bits else ("B", mtu_bytes)
    if scaled(value, scale) >= needed:
        return
    after = "" if scale == 1 else f" (scaled by {scale:g}: {scaled(value, scale)}{unit})"
    least = unscaled(needed, scale)
    yield (
        (),
        f"{shown(raw)}{after} is smaller than one packet of {mtu_bytes}B; write at least {least}{unit}",
    )
