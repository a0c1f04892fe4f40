"""The machines that carried a network together, over all trials of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crosswind.results.between_machines import TrialMachine
from crosswind.results.provenance import MachineOfTestbed, Provenance


@dataclass(frozen=True)
class RunMachine:
    """A machine over all trials.

    Attributes:
        facts: what it is; None where provenance.json does not say it.
        clock_bound_ns: in the trial in which its clock was known least.
        skew_ppb: the greatest, in either direction.
        began_ns, late_ns: those farthest from 0, each with the bound of its trial; None where unknown.
        lost, reordered, duplicate, forged: datagrams of all trials.
        network: what carried them.
    """

    name: str
    facts: MachineOfTestbed | None
    clock_bound_ns: int
    skew_ppb: int
    began_ns: tuple[int, int]
    late_ns: tuple[int, int] | None
    lost: int
    reordered: int
    duplicate: int
    forged: int
    network: str


@dataclass(frozen=True)
class StartSkew:
    """By how much the windows of machines began apart, in the trial where that was most.

    Attributes:
        bound_ns: by which the clocks of that trial may differ.
        network: what carried packets between them: `udp` or `native`.
    """

    machines: int
    skew_ns: int
    bound_ns: int
    network: str


def start_skew(trials: Sequence[Sequence[TrialMachine]]) -> StartSkew | None:
    """Return the greatest skew between the starts of windows; None where no trial was on several machines."""
    found = []
    for machines in trials:
        if len(machines) > 1:
            began = [machine.began_ns for machine in machines]
            bounds = sorted(machine.clock_bound_ns for machine in machines)
            found.append(
                StartSkew(len(machines), max(began) - min(began), sum(bounds[-2:]), machines[0].network)
            )
    return max(found, key=lambda it: it.skew_ns, default=None)


def machines_over(trials: Sequence[Sequence[TrialMachine]], provenance: Provenance) -> list[RunMachine]:
    """Return the machines of a run, in the order of its trials; none where it was on one machine."""
    facts = {machine.name: machine for machine in (provenance.before.machines if provenance.before else [])}
    found: dict[str, list[TrialMachine]] = {}
    for machines in trials:
        for machine in machines:
            found.setdefault(machine.name, []).append(machine)
    return [_over(name, each, facts.get(name)) for name, each in found.items()]


def _over(name: str, each: Sequence[TrialMachine], facts: MachineOfTestbed | None) -> RunMachine:
    began = max(each, key=lambda it: abs(it.began_ns))
    late = max(each, key=lambda it: it.late_ns or 0)
    return RunMachine(
        name=name,
        facts=facts,
        clock_bound_ns=max(it.clock_bound_ns for it in each),
        skew_ppb=max((it.skew_ppb for it in each), key=abs),
        began_ns=(began.began_ns, began.clock_bound_ns),
        late_ns=None if late.late_ns is None else (late.late_ns, late.clock_bound_ns),
        lost=sum(it.lost for it in each),
        reordered=sum(it.reordered for it in each),
        duplicate=sum(it.duplicate for it in each),
        forged=sum(it.forged for it in each),
        network=each[0].network,
    )
