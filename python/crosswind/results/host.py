"""What the machine did to the emulator while a trial was measured."""

from __future__ import annotations

from dataclasses import dataclass

from crosswind.results.measurement import Measurement


@dataclass(frozen=True)
class Host:
    """None where the kernel, or the version that measured, does not report it.

    Attributes:
        emulator_share: of one CPU, used by the emulator's thread.
        run_queue_delay_ns: time in which that thread could have run and waited for a CPU.
        steal_ns: CPU time taken by the hypervisor, of all CPUs together.
        standstill_ns: the longest time in which it should have been awake and was not.
    """

    emulator_share: float | None = None
    run_queue_delay_ns: int | None = None
    steal_ns: int | None = None
    standstill_ns: int | None = None


def host_of(measurement: Measurement | None) -> Host:
    """Return what the machine did in a measurement; nothing is known without one."""
    if measurement is None:
        return Host()
    host = measurement.host
    used_ns = host.emulator_cpu_ns
    return Host(
        emulator_share=None if used_ns is None else used_ns / measurement.window.length_ns,
        run_queue_delay_ns=host.run_queue_delay_ns,
        steal_ns=host.steal_ns,
        standstill_ns=host.longest_stall_ns,
    )
