"""What the machine did to the emulator while a trial was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Host:
    """None where the kernel, or the version that measured, does not tell.

    Attributes:
        emulator_share: of one processor, that the emulator's thread used.
        run_queue_delay_ns: that it could have run and waited for a processor.
        steal_ns: that the hypervisor took, of all processors together.
        standstill_ns: the longest time in which it should have been awake and was not.
    """

    emulator_share: float | None = None
    run_queue_delay_ns: int | None = None
    steal_ns: int | None = None
    standstill_ns: int | None = None


def host_of(measurement: Mapping[str, Any]) -> Host:
    """Return what a measurement (docs/reference/contracts.md, section 3) says of its host; nothing for {}."""
    if not measurement:
        return Host()
    host, window = measurement["host"], measurement["window"]
    used_ns = host.get("emulator_cpu_ns")
    return Host(
        emulator_share=None if used_ns is None else used_ns / (window["ended_ns"] - window["started_ns"]),
        run_queue_delay_ns=host.get("run_queue_delay_ns"),
        steal_ns=host.get("steal_ns"),
        standstill_ns=standstill_ns(host),
    )


def standstill_ns(host: Mapping[str, Any]) -> int | None:
    """Return the longest time that the emulator stood still, by its canary and its stalls.

    Args:
        host: of a measurement.
    """
    gaps = [host.get("canary_gap_ns_max"), *(stall["length_ns"] for stall in host.get("stalls") or [])]
    return max((gap for gap in gaps if gap is not None), default=None)
