"""Choose the number of the emulator's domains for `domains: auto`."""

from __future__ import annotations

import os

from crosswind.spec import AnyResolved, ResolvedCondition

# With fewer CPUs, a second thread of the emulator would cost the application more than it gains.
CPUS_MIN = 8
# A waiting thread keeps one CPU busy; the other three of each four are for the application.
CPUS_PER_DOMAIN = 4
AUTO_DOMAINS_MAX = 8


def auto_domains(cpus: int, wait: str | None = None, *, in_one: bool = False) -> int:
    """Return the number of domains for `auto`.

    Args:
        cpus: CPUs that this process may use.
        wait: `spin`, `sleep` or None, as in the topology; an emulator that has to sleep has one domain.
        in_one: whether a feature is used that works in one domain only, such as a recording.
    """
    if cpus < CPUS_MIN or wait == "sleep" or in_one:
        return 1
    return min(cpus // CPUS_PER_DOMAIN, AUTO_DOMAINS_MAX)


def auto_domains_of(resolved: AnyResolved, cpus: int, *, is_written: bool = False) -> int:
    """Return the number of domains for `auto` in a resolved experiment or setup.

    Args:
        cpus: CPUs that this process may use.
        is_written: whether a recording or a capture is requested, besides those of its trials.
    """
    trials = resolved.trials
    keeps = trials.record or trials.capture is not None
    # These need both ends in one domain. The network is made before the condition of a trial is known.
    bound = any(_binds(condition) for condition in resolved.conditions)
    return auto_domains(cpus, resolved.topology.wait, in_one=is_written or keeps or bound)


def _binds(condition: ResolvedCondition) -> bool:
    """Return whether a condition has interference with TCP feedback, or a monitor of round-trip times."""
    answers = any(not entry.is_real and entry.tcp is not None for entry in condition.interference)
    return answers or any(
        kind == "monitor" and "rtt" in (quantities if isinstance(quantities := of.get("what"), list) else ())
        for _, kind, of in condition.elements()
    )


def auto_domains_here(resolved: AnyResolved, *, is_written: bool = False) -> int:
    """Return the number of domains for `auto` with the CPUs that this process may use."""
    return auto_domains_of(resolved, len(os.sched_getaffinity(0)), is_written=is_written)
