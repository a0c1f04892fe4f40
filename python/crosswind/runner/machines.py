"""The machines of a testbed before a run: whether each can carry its part, and what each is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.find import application_of
from crosswind.doctor.finding import FindingVerdict
from crosswind.doctor.machines import LookedAt, Needs, look_at_machines, met_over_ethernet, needs_of
from crosswind.fingerprint.measure.machines import Busy
from crosswind.plan.placement import Placement, placement_of
from crosswind.results.provenance import MachineOfTestbed
from crosswind.spec import Resolved
from crosswind.spec.resolved import ResolvedTestbed
from crosswind.testbed import NotHere


@dataclass(frozen=True)
class CheckedMachines:
    """What the machines are that carry an experiment, and what a user should know of them before it runs.

    Attributes:
        programs: private folders that a machine lacks.
    """

    machines: Sequence[MachineOfTestbed]
    notes: Sequence[str]
    programs: Sequence[Path]


def check_machines(resolved: Resolved) -> CheckedMachines:
    """Check that the machines of an experiment's testbed can carry it; each starts an agent, and ends it.

    Raises: NotHere: it cannot be placed on them, or machines lack something; a line for each, with its name.
    """
    testbed, placement = resolved.testbed, placement_of(resolved)
    assert testbed is not None
    assert placement is not None
    if placement.problems:
        raise NotHere("\n".join(placement.problems))
    if refused := list(_refused(resolved)):
        raise NotHere("\n".join(refused))
    needs = needs_of(resolved)
    found = _look(testbed, placement, needs)
    if testbed.network is not None:
        found = met_over_ethernet(testbed, found)
    lacking = [
        f"{each.machine.name}: {finding.name}: {finding.found}; {finding.remedy}"
        for each in found
        for finding in each.findings
        if finding.verdict == FindingVerdict.MISSING
    ]
    if lacking:
        raise NotHere("\n".join(lacking))
    notes = [
        f"{each.machine.name}: {finding.name}: {finding.found}; {finding.remedy}"
        for each in found
        for finding in each.findings
    ]
    programs = _lacking_programs(found, needs)
    if programs:
        names = ", ".join(folder.name for folder in programs)
        notes.append(f"programs that machines lack are copied to them for this run: {names}")
    return CheckedMachines([_described(each) for each in found], [*notes, *placement.notes], programs)


def _lacking_programs(found: Sequence[LookedAt], needs: Mapping[str, Needs]) -> list[Path]:
    """Return the private folders that a machine lacks; a folder is then copied to all, to one path."""
    lacking: dict[Path, None] = {}
    for each in found:
        for file in needs[each.machine.name].files:
            if file.is_private:
                record = (file.path / "installed.json").read_bytes()
                if each.facts.places.get(str(file.path)) != hashlib.sha256(record).hexdigest():
                    lacking[file.path] = None
    return list(lacking)


def machines_now(resolved: Resolved) -> list[MachineOfTestbed]:
    """Return what the machines of an experiment are; none where it is on this machine."""
    testbed, placement = resolved.testbed, placement_of(resolved)
    if testbed is None or placement is None:
        return []
    return [_described(each) for each in _look(testbed, placement, {})]


def _look(testbed: ResolvedTestbed, placement: Placement, needs: Mapping[str, Needs]) -> list[LookedAt]:
    used = [machine for machine in testbed.machines if machine.name in placement.parts]
    return look_at_machines(testbed.model_copy(update={"machines": used}), needs, ways=False)


def _refused(resolved: Resolved) -> list[str]:
    """Return what cannot be done on several machines."""
    why = application_of(resolved).needs_one_machine()
    return [] if why is None else [f"application: {resolved.application.name} needs one machine: {why}"]


def busy(machine: MachineOfTestbed) -> Busy:
    """Return what a machine does besides."""
    load, cores = machine.load_average, machine.cores
    memory, available = machine.memory_bytes, machine.memory_available_bytes
    interfaces = machine.interfaces_bps
    return Busy(
        machine.name,
        None if load is None or not cores else load / cores,
        None if available is None or not memory else 1 - available / memory,
        None if interfaces is None else {name: rates.larger for name, rates in interfaces.items()},
    )


def _described(found: LookedAt) -> MachineOfTestbed:
    facts, hello = found.facts, found.hello
    return MachineOfTestbed(
        name=found.machine.name,
        address=found.address,
        kernel=facts.kernel or None,
        processor=facts.processor or None,
        cpu=facts.model or None,
        cores=facts.cores,
        memory_bytes=facts.memory_bytes,
        memory_available_bytes=facts.available_bytes,
        clock_source=facts.clock or None,
        governor=facts.governor or None,
        load_average=facts.load,
        interfaces_bps=None if facts.interfaces_bps is None else dict(facts.interfaces_bps),
        agent=None if hello is None else hello.version,
        rootless=None if hello is None else hello.rootless,
        labels=found.machine.labels or None,
    )
