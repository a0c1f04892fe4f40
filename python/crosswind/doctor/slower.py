"""Propose by how much to slow time down, so that this machine carries an experiment as declared."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from crosswind.doctor.calibration import Calibration, CalibrationUnreadableError, stored_calibration
from crosswind.doctor.machine import CalibratedMachine, this_machine
from crosswind.spec import Resolved, count_of, domains_of
from crosswind.spec.network import Network
from crosswind.spec.resolved import FACTOR_MAX
from crosswind.testbed import NotHere
from crosswind.text.quantities import rate_text

# Up to here nodes take turns: only some of them compute at any time.
MANY_PER_CORE = 2


@dataclass(frozen=True)
class Slower:
    """A dilation at which the machine is large enough.

    Attributes:
        factor: the least one.
        why: what is declared and what the machine has, one sentence each.
    """

    factor: int
    why: tuple[str, ...]

    @property
    def text(self) -> str:
        """The proposal in a sentence."""
        if self.factor > FACTOR_MAX:
            return f"{'; '.join(self.why)}; no dilation is enough, so lower the rates (`scale`)"
        return f"{'; '.join(self.why)}; write `time: {{dilation: {self.factor}}}` or more"


def slower_here(resolved: Resolved) -> Slower | None:
    """As `slower`, on this machine by its stored calibration; None where there is none."""
    try:
        calibration = stored_calibration()
    except (CalibrationUnreadableError, NotHere):
        return None
    return None if calibration is None else slower(resolved, calibration, this_machine())


def hindrance_to_real_time(resolved: Resolved) -> str:
    """Return why this machine cannot carry an experiment in real time by its calibration; empty if it can."""
    try:
        calibration = stored_calibration()
    except (CalibrationUnreadableError, NotHere) as error:
        return str(error)
    if calibration is None:
        return "this machine is not calibrated; run `crosswind doctor`"
    found = slower(resolved.model_copy(update={"dilation": None}), calibration, this_machine())
    return "" if found is None else "; ".join(found.why)


def slower(resolved: Resolved, calibration: Calibration, here: CalibratedMachine) -> Slower | None:
    """Return what to propose for an experiment; None where it is slow enough, or cannot be slowed."""
    if resolved.testbed is not None or resolved.backend is not None:
        return None
    if any(condition.is_real for condition in resolved.conditions):
        return None
    needed = [*_rates(resolved, calibration), *_cpus(resolved, here)]
    lacking = [(factor, why) for factor, why in needed if factor > resolved.factor_min]
    if not lacking:
        return None
    return Slower(max(factor for factor, _ in lacking), tuple(why for _, why in lacking))


def _rates(resolved: Resolved, calibration: Calibration) -> Iterator[tuple[int, str]]:
    """Yield the factor for all nodes to send at once, each as fast as its uplink."""
    uplinks = Network.of(resolved.topology).uplinks
    hosts = set(resolved.topology.nodes.values())
    rates_bps = [uplinks[host].rate_bps for host in uplinks if host in hosts]
    limited = [rate_bps for rate_bps in rates_bps if rate_bps is not None]
    carried_bps = calibration.honours.goodput_bps_max
    if not limited or sum(limited) <= carried_bps:
        return
    same = f"{len(limited)} x {rate_text(limited[0])}" if len(set(limited)) == 1 else rate_text(sum(limited))
    yield (
        math.ceil(sum(limited) / carried_bps),
        f"declared {same}, and this machine carries {rate_text(carried_bps)}",
    )


def _cpus(resolved: Resolved, here: CalibratedMachine) -> Iterator[tuple[int, str]]:
    """Yield the factor for each node to have the CPUs of its limit, or one."""
    limits = resolved.topology.limits
    asked = [(limits.get(node, {}).get("cpus_ppm") or 1_000_000) / 1e6 for node in resolved.topology.nodes]
    threads = count_of(domains_of(resolved, 1))
    left = max(1, here.cores - threads)
    if sum(asked) > MANY_PER_CORE * left:
        cores = "1 core" if left == 1 else f"{left} cores"
        yield (
            math.ceil(sum(asked) / left),
            f"{len(asked)} nodes with {sum(asked):g} CPUs, and {cores} beside the emulator",
        )
