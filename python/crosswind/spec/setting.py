"""What the rules of a condition are given, and what they yield."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from crosswind.spec.document import Path

Finding = tuple[Path, str]


@dataclass(frozen=True)
class Setting:
    """What a condition meets. None: not known (the file is unsound there, or the condition stands alone)."""

    hosts: list[str] | None = None
    nodes: Collection[str] | None = None
    mtu_bytes: int | None = None
    scale: float = 1.0
    uplink_bps: int | None = None  # As written.
    uplink_unlimited: bool = False
    measured_ns: int | None = None  # How long a trial is measured.
