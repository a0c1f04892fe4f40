"""How many domains the emulator has where the topology leaves it to the machine (`domains: auto`)."""

from __future__ import annotations

import os

from crosswind.spec import AnyResolved, ResolvedCondition

# Fewer CPUs are worth more to the application than to a second thread of the emulator.
CPUS_MIN = 8
# A thread keeps a CPU busy while it waits; the other three of each four are the application's.
CPUS_PER_DOMAIN = 4
AUTO_DOMAINS_MAX = 8


def auto_domains(cpus: int, wait: str = "spin", *, in_one: bool = False) -> int:
    """Return what `auto` comes to.

    Args:
        cpus: that this process may use.
        wait: `spin` or `sleep`, as the topology has it; who sleeps leaves the CPUs to the application.
        in_one: whether something is asked for that the emulator does in one domain only, such as a recording.
    """
    if cpus < CPUS_MIN or wait == "sleep" or in_one:
        return 1
    return min(cpus // CPUS_PER_DOMAIN, AUTO_DOMAINS_MAX)


def auto_domains_of(resolved: AnyResolved, cpus: int, *, is_written: bool = False) -> int:
    """Return what `auto` comes to for a resolved experiment or setup.

    Args:
        cpus: that this process may use.
        is_written: whether a recording or a capture is asked for, besides those of its trials.
    """
    trials = resolved.trials
    keeps = trials.record or trials.capture is not None
    # Both ends of what these look at must be in one domain, and a trial's condition comes after the network.
    bound = any(_binds(condition) for condition in resolved.conditions)
    return auto_domains(cpus, resolved.topology.wait, in_one=is_written or keeps or bound)


def _binds(condition: ResolvedCondition) -> bool:
    """Return whether a condition has interference that answers as TCP does, or monitors round trips."""
    answers = any(not entry.is_real and entry.tcp is not None for entry in condition.interference)
    return answers or any(
        kind == "monitor" and "rtt" in (quantities if isinstance(quantities := of.get("what"), list) else ())
        for _, kind, of in condition.elements()
    )


def auto_domains_here(resolved: AnyResolved, *, is_written: bool = False) -> int:
    """As `auto_domains_of`, with the CPUs that this process may use."""
    return auto_domains_of(resolved, len(os.sched_getaffinity(0)), is_written=is_written)
