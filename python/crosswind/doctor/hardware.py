"""Check the hardware: cores, memory, clock source, steal and load."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

from crosswind.doctor.domains import auto_domains
from crosswind.doctor.finding import Finding, ok, warning
from crosswind.doctor.machine import CalibratedMachine
from crosswind.text.quantities import memory_text

# Enough for a small fabric and a database; with less, a trial may make the machine swap.
MEMORY_BYTES_WANTED = 1 << 30
# These are read without a system call (clock_gettime takes about 22 ns with tsc). Any other costs a system
# call of 1 us or more, and the emulator reads the clock several times for each packet.
FAST_CLOCK_SOURCES = frozenset({"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"})
CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
# Above 1 % of the time, steal affects the 99th percentile of a trial.
STEAL_SHARE_MAX = 0.01
# A machine with two cores, one of them busy, has no quiet core for the emulator.
LOAD_PER_CORE_MAX = 0.5


def look_at_hardware(machine: CalibratedMachine) -> list[Finding]:
    """Return findings about cores, memory, clock source, steal and load."""
    return [
        cores(machine.cores),
        domains(machine.cores),
        memory(machine.memory_bytes),
        clock_source(_read(CLOCK_SOURCE)),
        steal(Path("/proc/stat").read_text()),
        load(os.getloadavg()[0], machine.cores),
    ]


def cores(count: int) -> Finding:
    """Judge the number of cores that this process may use."""
    if count == 1:
        return warning(
            "cores",
            "1; emulator and application share it",
            "allow two cores or more; on one, delays are honoured to within milliseconds only",
        )
    taken = auto_domains(count)
    return ok("cores", f"{count}; the emulator takes {'one' if taken == 1 else f'up to {taken}'} of them")


def domains(cpus: int) -> Finding:
    """Report the number of domains for a network that does not declare them."""
    count, of = auto_domains(cpus), f"of {cpus} CPU{'' if cpus == 1 else 's'}"
    if count == 1:
        return ok("domains", f"1 ({of}; one thread of the emulator carries every network)")
    return ok("domains", f"{count} ({of}; up to {count} threads of the emulator carry a network)")


def memory(total_bytes: int) -> Finding:
    """Judge the machine's memory."""
    available = memory_text(psutil.virtual_memory().available)
    found = f"{memory_text(total_bytes)}, {available} available now"
    if total_bytes < MEMORY_BYTES_WANTED:
        return warning("memory", found, "use few nodes and small data sets, or a machine with 1 GiB or more")
    return ok("memory", found)


def clock_source(name: str | None) -> Finding:
    """Judge the kernel's clock source by whether reading it needs a system call."""
    if name is None:
        return warning("clock source", "unknown", f"mount /sys, so that {CLOCK_SOURCE} can be read")
    if name not in FAST_CLOCK_SOURCES:
        return warning(
            "clock source",
            f"{name}: reading it needs a system call, which costs packet rate and exactness",
            "boot with clocksource=tsc where /proc/cpuinfo has constant_tsc",
        )
    return ok("clock source", name)


def steal(proc_stat: str) -> Finding:
    """Judge the steal: the share of CPU time since boot that the hypervisor took.

    Args:
        proc_stat: text of /proc/stat, first line `cpu user nice system idle iowait irq softirq steal ...`.
    """
    ticks = [int(field) for field in proc_stat.split("\n", 1)[0].split()[1:]]
    # Guest time (fields 9 and 10) is part of user and nice already.
    share = ticks[7] / sum(ticks[:8]) if sum(ticks[:8]) else 0.0
    found = f"{share:.2%} of the time since boot"
    if share > STEAL_SHARE_MAX:
        return warning(
            "steal",
            found,
            "expect degraded trials; use a virtual machine with dedicated cores, or a physical machine",
        )
    return ok("steal", found)


def load(average: float, core_count: int) -> Finding:
    """Judge whether other programs are running now.

    Args:
        average: runnable processes, mean over the last minute.
        core_count: cores that this process may use.
    """
    found = f"{average:.1f} on {core_count} core{'' if core_count == 1 else 's'} in the last minute"
    if average > LOAD_PER_CORE_MAX * core_count:
        return warning(
            "load",
            f"{found}; other programs are running",
            "stop them and run `crosswind doctor` again before measuring",
        )
    return ok("load", found)


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
