"""Limits of memory and CPU time of a node, from a topology or from the application's own files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crosswind.spec.quantities import QuantityError, shown

MEMORY_BYTES_MIN = 4 << 20  # The agent refuses less: the init of a node would not fit.
CPUS_MIN, CPUS_MAX = 0.01, 1024


@dataclass(frozen=True)
class NodeLimits:
    """Limits of one node; None is no limit.

    Attributes:
        memory_bytes: page cache included.
        cpus: CPU time per time: 0.5 is half a CPU.
    """

    memory_bytes: int | None = None
    cpus: float | None = None

    def as_request(self) -> dict[str, int | None]:
        """Return the limits as the agent takes them (contracts.md, section 2); empty without any."""
        limits = {
            "memory_bytes": self.memory_bytes,
            "cpus_ppm": None if self.cpus is None else round(self.cpus * 1_000_000),
        }
        return limits if any(limit is not None for limit in limits.values()) else {}

    def filled(self, other: NodeLimits) -> NodeLimits:
        """Return these limits, with those of `other` where these have none."""
        return NodeLimits(
            other.memory_bytes if self.memory_bytes is None else self.memory_bytes,
            other.cpus if self.cpus is None else self.cpus,
        )

    def contradictions(self, other: NodeLimits) -> Iterator[tuple[str, str]]:
        """Yield the limits that both have and that differ: the key, and the value of `other` as text."""
        if None not in (self.memory_bytes, other.memory_bytes) and self.memory_bytes != other.memory_bytes:
            yield "memory", f"{other.memory_bytes}B"
        if None not in (self.cpus, other.cpus) and self.cpus != other.cpus:
            yield "cpus", f"{other.cpus:g}"


def check_memory(memory_bytes: int) -> int:
    """Return a limit of memory.

    Raises: QuantityError: a node does not start with it.
    """
    if memory_bytes < MEMORY_BYTES_MIN:
        raise QuantityError(f"{memory_bytes} bytes are too few for a process; allow at least 4MiB")
    return memory_bytes


def check_cpus(cpus: float) -> float:
    """Return a limit of CPU time.

    Raises: QuantityError: no machine can enforce it.
    """
    if not CPUS_MIN <= cpus <= CPUS_MAX:
        raise QuantityError(f"{shown(cpus)} is outside {CPUS_MIN:g} to {CPUS_MAX:g} CPUs")
    return cpus
